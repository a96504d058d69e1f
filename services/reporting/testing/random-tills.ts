import { diningRoomTypes, orderServiceTypes, paymentModes, paymentRowTypes } from "@pragma/contracts/enumerations";
import type { TillV2 } from "@pragma/contracts/till-v2";
import fc from "fast-check";
import {
  buildTestOrder,
  buildTestOrderDiscountRow,
  buildTestOrderMenuRow,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "./till-fixtures.ts";

// Few different values, so that rows often belong to the same group, and values that groups must keep apart.
const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const rarely = fc.integer({ min: 0, max: 6 }).map((number) => number === 6);
const name = oneOf(null, "", "null", "Pizza", 'Eau "plate", 1 l', "Thé {vert}\\");
const amount = fc.integer({ min: -2_000, max: 3_000 });
/** Some of them in the hours around a change to summer time, and close to midnight in Paris. */
const instant = oneOf(
  ...["2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00.000Z", "2026-03-28T22:59:59.000Z", "2026-03-28T23:00:00.000Z"],
  ...["2026-03-28T10:17:00.000Z", "2026-03-29T18:30:00.000Z"],
);
const instantOrNull = fc.oneof(fc.constant(null), instant);

const discount = fc
  .record({
    ...{ amount, name, discountId: oneOf(null, "staff", "happy"), discountGroupId: oneOf(null, "first", "second") },
    status: oneOf<"validated" | "pending">("validated", "validated", "pending"),
  })
  .map(buildTestOrderDiscountRow);

const productRow = fc
  .record({
    ...{
      productId: oneOf(null, "a", "b"),
      name,
      categoryName: oneOf(null, "Plats"),
      subCategoryName: oneOf(null, "x"),
    },
    ...{ taxRate: oneOf(0, 5.5, 10), taxName: oneOf(null, "TVA"), taxAmount: amount, taxableAmount: amount },
    ...{ totalRow: fc.oneof(fc.constant(0), amount), quantity: fc.integer({ min: -3, max: 4 }) },
    ...{ parentProductRowId: oneOf(null, null, "parent"), isLoss: rarely, isCanceled: rarely, isTransferred: rarely },
    ...{ canceledReason: oneOf(null, "", "Erreur"), modifiedAt: instantOrNull },
    discountRowList: fc.array(discount, { maxLength: 2 }),
  })
  .map(buildTestOrderProductRow);

const menuRow = fc
  .record({ totalRow: amount, productRowList: fc.array(productRow, { maxLength: 2 }) })
  .map(buildTestOrderMenuRow);

const payment = fc
  .record({
    ...{ amount, name, changeAmount: amount, tipAmount: fc.oneof(fc.constant(null), amount) },
    ...{ paymentType: oneOf(...paymentRowTypes), paymentMode: oneOf(...paymentModes.slice(0, 3)) },
    status: oneOf<"validated" | "cancelled">("validated", "validated", "cancelled"),
  })
  .map(buildTestOrderPaymentRow);

const order = fc
  .record({
    ...{ openedAt: instant, total: amount, totalWithoutTax: amount, guestsCount: fc.integer({ min: 0, max: 3 }) },
    ...{ roomName: oneOf(null, "Salle", "Bar"), roomType: oneOf(null, ...diningRoomTypes.slice(0, 2)) },
    ...{ operatorId: oneOf(null, "1", "2"), operatorName: oneOf(null, "Léa"), channel: oneOf("unknown", "web") },
    ...{ serviceType: oneOf(...orderServiceTypes), isCanceled: rarely, isTransferred: rarely, isTraining: rarely },
    ...{ canceledReason: oneOf(null, "Erreur"), canceledAt: instantOrNull, firstBillPrintDate: instantOrNull },
    productRowList: fc.array(productRow, { maxLength: 5 }),
    menuRowList: fc.array(menuRow, { maxLength: 2 }),
    paymentRowList: fc.array(payment, { maxLength: 3 }),
  })
  .map(buildTestOrder);

/** Tills whose amounts contradict each other, with everything that reports treat specially. */
export const randomTills: fc.Arbitrary<TillV2> = fc
  .record({
    orders: fc.array(order, { maxLength: 8 }),
    fields: fc.record({
      startedAt: oneOf("2026-03-27T08:00:00.000Z", "2026-03-28T08:00:00.000Z", "2026-04-01T08:00:00.000Z"),
      ...{ deviceIdentifier: oneOf(null, "counter"), deviceName: oneOf(null, "Comptoir") },
    }),
  })
  .map(({ orders, fields }) => buildTestTill(orders, fields));
