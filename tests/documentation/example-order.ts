import { productRowExample } from "@pragma/contracts/examples/till-v2";
import { computeAmountWithoutTax, computePriceByWeight } from "@pragma/contracts/money";
import type { TillV2Input } from "@pragma/contracts/till-v2";

type Order = TillV2Input["orderList"][number];
type Product = Order["productRowList"][number];
type Menu = Order["menuRowList"][number];
type Payment = Order["paymentRowList"][number];

/** Returns a fixed UUID that ends with the given number. */
export function createExampleUuid(number: number): string {
  return `e0000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

/** Returns a product row with 10% VAT, whose amounts are consistent. Weights are in kilograms. */
export function createExampleProductRow(
  number: number,
  name: string,
  unitPrice: number,
  overrides: Partial<Product> = {},
): Product {
  const { quantity = 1, weight = null, modifierRowList = [], discountRowList = [] } = overrides;
  const unitPriceRowWithModifier = unitPrice + sumAmounts(modifierRowList, ({ amount }) => amount);
  const totalRowWithModifier = computePriceByWeight(unitPriceRowWithModifier, quantity, weight ?? 1);
  const totalDiscount = sumAmounts(discountRowList, ({ amount }) => amount);
  const totalRow = overrides.totalRow ?? totalRowWithModifier - totalDiscount;
  const taxableAmount = computeAmountWithoutTax(totalRow, 10);
  const { isCanceled, isTransferred, isMerged, isCustomPrice, validated, taxId, taxName, taxRate } = productRowExample;
  return {
    id: createExampleUuid(number),
    productId: createExampleUuid(900_000 + number),
    name,
    categoryName: "Cuisine",
    subCategoryName: "Plats",
    ...{ isCanceled, isTransferred, isMerged, isCustomPrice, validated, taxId, taxName, taxRate },
    recordedAt: "2026-05-31T10:20:00.000Z",
    modifiedAt: "2026-05-31T10:20:00.000Z",
    unitPriceRow: unitPrice,
    unitPriceRowWithModifier,
    totalRowWithModifier,
    totalDiscount,
    totalRow,
    taxableAmount,
    taxAmount: totalRow - taxableAmount,
    currencyCode: "EUR",
    ...overrides,
    quantity,
    weight,
    modifierRowList,
    discountRowList,
  };
}

/** Returns a payment by card. The amount is in cents. */
export function createExamplePaymentRow(number: number, amount: number, overrides: Partial<Payment> = {}): Payment {
  return {
    id: createExampleUuid(number),
    recordedAt: "2026-05-31T11:10:00.000Z",
    amount,
    changeAmount: 0,
    status: "validated",
    name: "Carte bancaire",
    paymentType: "payment",
    paymentMode: "card",
    currencyCode: "EUR",
    ...overrides,
  };
}

export function createExampleMenuRow(number: number, name: string, products: Product[]): Menu {
  const totalRow = sumAmounts(products, (row) => row.totalRow);
  return {
    id: createExampleUuid(number),
    menuId: createExampleUuid(900_000 + number),
    name,
    totalRow,
    productRowList: products,
  };
}

interface ExampleOrderRows {
  products?: Product[];
  menus?: Menu[];
  payments?: Payment[];
}

/**
 * Returns an order whose totals are computed from its rows. By default, the order is paid by card, unless it is
 * canceled or transferred.
 */
export function createExampleOrder(
  number: number,
  { products = [], menus = [], payments }: ExampleOrderRows,
  overrides: Partial<Order> = {},
): Order {
  const rows = [...products, ...menus.flatMap(({ productRowList }) => productRowList)].filter(
    ({ isCanceled, isTransferred, isLoss }) => !isCanceled && !isTransferred && !isLoss,
  );
  const total = sumAmounts(rows, ({ totalRow }) => totalRow);
  const totalTax = sumAmounts(rows, ({ taxAmount }) => taxAmount);
  const paid =
    payments ??
    (overrides.isCanceled || overrides.isTransferred ? [] : [createExamplePaymentRow(500_000 + number, total)]);
  return {
    id: createExampleUuid(number),
    openedAt: "2026-05-31T10:15:00.000Z",
    closedAt: "2026-05-31T11:10:00.000Z",
    total,
    totalTax,
    totalDiscount: sumAmounts(rows, ({ totalDiscount }) => totalDiscount),
    totalWithoutTax: total - totalTax,
    leftToPay: total - sumAmounts(paid, ({ amount }) => amount),
    guestsCount: 2,
    roomType: "room",
    roomName: "Salle",
    operatorName: "Alice",
    serviceType: "eatin",
    preparationActivated: true,
    isMerged: false,
    manuallyClosed: false,
    isPaid: !(overrides.isCanceled || overrides.isTransferred),
    isCanceled: false,
    isPrepaid: false,
    isTransferred: false,
    paymentRowList: paid,
    productRowList: products,
    menuRowList: menus,
    ...overrides,
  };
}

/** Returns the order with all its times, including those of its rows, moved by a number of minutes. */
export function shiftExampleOrderTimes(order: Order, minutes: number): Order {
  const text = JSON.stringify(order).replace(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (_, time) =>
    JSON.stringify(new Date(Date.parse(time) + minutes * 60_000).toISOString()),
  );
  return JSON.parse(text);
}

function sumAmounts<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + amountOf(item), 0);
}
