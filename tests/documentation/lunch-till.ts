import type { TillV2Input } from "@pragma/contracts/till-v2";
import { demoRestaurantSeed } from "@pragma/simulator/demo-location";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";

/*
 * The till and the catalog of the guides on pushing tills and on the catalog: three orders of a lunch shift of the demo
 * restaurant, and the items of its catalog that these orders contain.
 */

type Order = TillV2Input["orderList"][number];

/**
 * The fields of orders and rows that the guide shows, in the sequence in which it shows them: all required fields, and
 * the optional fields that reports and the catalog guide use.
 */
const shownFields = [
  ...["id", "openedAt", "paidAt", "closedAt", "serviceType", "guestsCount", "roomType", "roomName", "tableName"],
  ...["operatorId", "operatorName", "recordedAt", "productId", "sku", "name", "categoryName", "subCategoryName"],
  ...["quantity", "unitPriceRow", "unitPriceRowWithModifier", "totalRowWithModifier", "totalRow"],
  ...["total", "totalTax", "totalWithoutTax", "totalDiscount", "leftToPay"],
  ...["taxId", "taxName", "taxRate", "taxableAmount", "taxAmount"],
  ...["paymentType", "paymentMode", "paymentId", "amount", "changeAmount", "tipAmount", "status"],
  ...["modifierId", "modifierGroupId", "modifierGroupName", "discountId", "splitAllowed"],
  ...["isPaid", "isCanceled", "isTransferred", "isMerged", "isPrepaid", "isCustomPrice", "validated"],
  ...["manuallyClosed", "preparationActivated"],
  ...["productRowList", "menuRowList", "modifierRowList", "discountRowList", "paymentRowList"],
];

/** The positions of the three orders among the orders of the generated day: two takeaway orders, and a meal for one. */
const positions = [14, 17, 18];

const day = generateTill({ seed: demoRestaurantSeed, orders: 60, day: "2026-06-01" });
const orderList = positions.map((position) => withShownFields(day.orderList[position])) as Order[];
const clerks = new Map(orderList.map(({ operatorId, operatorName }) => [operatorId, operatorName]));
const [startedAt, finalizedAt] = ["2026-06-01T09:00:00.000Z", "2026-06-01T13:10:00.000Z"];
const initialCashBalance = 20_000;
const breadPurchase = { amount: -1_500, name: "Achat pain", type: "cash-out" } as const;

/** The shift from 11:00 to 15:10 in Paris. It omits most optional fields. */
export const lunchTill = {
  id: "5b0c7a34-0d27-4d0e-9c1c-6a6c2f3a8e10",
  ...pick(day, [
    ...(["establishmentName", "siretCode", "companyName", "address1", "zipCode", "city", "country"] as const),
    ...(["tvaCode", "nafCode", "deviceName", "deviceIdentifier"] as const),
  ]),
  startedAt,
  finalizedAt,
  reportNumber: day.reportNumber,
  clerkId: day.clerkId,
  clerkName: day.clerkName,
  initialCashBalance,
  finalCashBalance: initialCashBalance + breadPurchase.amount + sumOfPayments("cash"),
  financialMovementList: [
    {
      id: "e0000000-0000-4000-8000-000000004001",
      ...breadPurchase,
      recordedAt: "2026-06-01T09:25:00.000Z",
      currencyCode: "EUR",
      paymentMode: "cash",
    },
  ],
  declaredPaymentList: declarePayments(),
  clerkShiftList: [...clerks].map(([id, name]) => ({
    id: id ?? "",
    name,
    clockInDate: startedAt,
    clockOutDate: finalizedAt,
  })),
  orderList,
} as const satisfies TillV2Input;

/** The items of the restaurant's catalog to which the lunch till refers, and all categories and taxes of these items. */
export const lunchCatalog = (() => {
  const full = buildRestaurantCatalog(generateRestaurant(demoRestaurantSeed));
  const rows = orderList.flatMap(({ productRowList }) => productRowList);
  const productIds = [...new Set(rows.map(({ productId }) => productId))];
  const groupIds = new Set(rows.flatMap(({ modifierRowList }) => modifierRowList.map((row) => row.modifierGroupId)));
  const paymentIds = new Set(orderList.flatMap(({ paymentRowList }) => paymentRowList.map((row) => row.paymentId)));
  const products = productIds
    .flatMap((productId) => full.products.filter(({ id }) => id === productId))
    .map((product) => ({ ...product, priceList: product.priceList.slice(0, 1) }));
  const rates = new Set(products.flatMap(({ priceList }) => priceList.map(({ taxRate }) => taxRate)));
  return {
    products,
    payments: full.payments.filter(({ id }) => paymentIds.has(id)),
    taxes: full.taxes.filter(({ percentage }) => rates.has(percentage)),
    modifiers: full.modifiers.filter(({ id }) => groupIds.has(id)),
    categories: full.categories.filter(({ id }) => products.some(({ categoryId }) => categoryId === id)),
  };
})();

function sumOfPayments(mode: string): number {
  const payments = orderList.flatMap(({ paymentRowList }) => paymentRowList);
  return payments.reduce((sum, { paymentMode, amount }) => sum + (paymentMode === mode ? amount : 0), 0);
}

/** Returns the sum of the payments of each method, as a point of sale states it when the shift is closed. */
function declarePayments() {
  const payments = orderList.flatMap(({ paymentRowList }) => paymentRowList);
  const ids = [...new Set(payments.map(({ paymentId }) => paymentId))];
  return ids.map((paymentId) => {
    const ofMethod = payments.filter((row) => row.paymentId === paymentId);
    const { paymentMode, name: paymentName } = ofMethod[0] as (typeof payments)[number];
    const paymentAmount = ofMethod.reduce((sum, { amount }) => sum + amount, 0);
    return { paymentMode, paymentAmount, quantity: ofMethod.length, paymentId, paymentName };
  });
}

/** Returns a generated order or row with only the fields that the guide shows, without fields that are null. */
function withShownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withShownFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = new Map(Object.entries(value).filter(([, field]) => field !== null));
  const names = shownFields.filter((name) => fields.has(name));
  return Object.fromEntries(names.map((name) => [name, withShownFields(fields.get(name))]));
}

function pick<Value extends object, Name extends keyof Value>(value: Value, names: Name[]): Pick<Value, Name> {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;
}
