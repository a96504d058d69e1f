import type { TillV2Input } from "@pragma/contracts/till-v2";
import {
  createExampleMenuRow,
  createExampleOrder,
  createExamplePaymentRow,
  createExampleProductRow,
  createExampleUuid,
} from "./example-order.ts";

type Order = TillV2Input["orderList"][number];
type Product = Order["productRowList"][number];
type OrderChanges = Parameters<typeof createExampleOrder>[2];

const burger = createExampleUuid(910_001);
const wine = createExampleUuid(910_002);
const steak = createExampleUuid(910_003);

const row = (number: number, productId: string, price: number, changes: Partial<Product> = {}) =>
  createExampleProductRow(number, "Produit", price, { productId, ...changes });

const openFlags: OrderChanges = { isPaid: false, closedAt: null };

const openOrder = (number: number, products: Product[], changes: OrderChanges = {}) =>
  createExampleOrder(number, { products, payments: [] }, { ...openFlags, ...changes });

/** The first revisions of the live orders of the stock guide. */
export const openedStockOrders: Order[] = [
  openOrder(4100, [row(4101, burger, 1650), row(4102, wine, 600, { quantity: 2 })]),
  openOrder(4200, [
    row(4201, wine, 2800, { totalRow: 1400 }),
    row(4202, wine, 2800, { totalRow: 1400, parentProductRowId: createExampleUuid(4201) }),
  ]),
  createExampleOrder(
    4300,
    {
      menus: [createExampleMenuRow(4301, "Formule midi", [row(4302, burger, 1300), row(4303, wine, 400)])],
      payments: [],
    },
    openFlags,
  ),
  openOrder(4400, [row(4401, burger, 1650), row(4402, burger, 1650)]),
  openOrder(4500, [row(4501, steak, 7900, { weight: 0.642 })]),
  openOrder(4600, [row(4601, burger, 1650)]),
  openOrder(4700, [row(4701, wine, 600)]),
];

const canceledWine = row(4102, wine, 600, { quantity: 2, isCanceled: true, canceledReason: "Erreur de saisie" });
const brokenWine = row(4103, wine, 600, { isLoss: true, lossReason: "Cassé" });
const reopened = [row(4101, burger, 1650), canceledWine, brokenWine, row(4104, burger, 1650)];

/** Later revisions: a canceled row, a loss, a payment, a canceled order, a row and an order that were transferred. */
export const changedStockOrders: Order[] = [
  createExampleOrder(4100, { products: [row(4101, burger, 1650), canceledWine, brokenWine] }),
  openOrder(4400, [row(4401, burger, 1650), row(4402, burger, 1650, { isTransferred: true })]),
  openOrder(4500, [row(4501, steak, 7900, { weight: 0.642 }), row(4502, burger, 1650)]),
  openOrder(4600, [row(4601, burger, 1650)], { isCanceled: true, canceledReason: "Client parti" }),
  openOrder(4200, openedStockOrders[1]?.productRowList ?? [], { isTransferred: true, transferredTo: "Chambre 12" }),
];

/** Revisions that follow a payment: the first order is reopened, receives another product, and is paid again. */
export const reopenedStockOrders: Order[] = [openOrder(4100, reopened, { modifiedAt: "2026-05-31T12:30:00.000Z" })];

const closed = (order: Order): Order => ({ ...order, closedAt: "2026-05-31T12:45:00.000Z" });

/**
 * The orders in the till. The till omits the last live order, and contains the first order with a row that was canceled
 * after the last live revision.
 */
export const finalStockOrders: Order[] = [
  createExampleOrder(4100, { products: [...reopened.slice(0, 3), row(4104, burger, 1650, { isCanceled: true })] }),
  ...changedStockOrders.slice(1).map(closed),
  createExampleOrder(4300, {
    menus: openedStockOrders[2]?.menuRowList ?? [],
    payments: [createExamplePaymentRow(4304, 1700)],
  }),
];

/** What the final orders take from stock, by product id. The steak is in kilograms. */
export const expectedStockQuantities = { [burger]: 4, [wine]: 3, [steak]: 0.642 };
