import { array, object, z } from "zod";
import { RequestDateTime } from "./date-time.ts";
import { diningRoomTypes, orderServiceTypes, priceListTypes } from "./enumerations.ts";
import { orderV1Example } from "./examples/order-v1.ts";
import { orderDataExample, tillV2Example } from "./examples/till-v2.ts";
import {
  boundedArray,
  boundedString,
  ClientGeneratedId,
  field,
  nullWhenAbsent,
  withoutFieldDefaults,
} from "./fields.ts";
import {
  PosOrderDiscountRow,
  PosOrderMenuRow,
  PosOrderModifierRow,
  PosOrderPaymentRow,
  PosOrderProductRow,
} from "./order-rows.ts";

const maxPlatformFields = 200;
const maxNestingDepth = 16;

/**
 * A person or an address from an ordering platform: either a text, or an object with the platform's own fields. An
 * object can have at most 200 fields and 16 nested levels.
 */
const textOrObjectField = (description: string) =>
  nullWhenAbsent(
    z.union([
      boundedString(10_000),
      z
        .record(boundedString(255), z.unknown())
        .refine(
          (object) => Object.keys(object).length <= maxPlatformFields,
          `Must have at most ${maxPlatformFields} fields`,
        )
        .refine(
          (object) => isWithinDepth(maxNestingDepth, object),
          `Must have at most ${maxNestingDepth} levels of nesting`,
        ),
    ]),
  ).describe(description);

/** Returns whether a value has at most `levels` nested levels. Does not read deeper, to prevent a stack overflow. */
function isWithinDepth(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithinDepth(levels - 1, inner));
}

/** A value that some applications send as a number and other applications as a text, such as a table's position. */
const numberOrTextField = (description: string) =>
  nullWhenAbsent(z.union([z.number(), boundedString(255)])).describe(description);

const GroupedTable = object({
  id: field.optionalText("ID of the table within the order"),
  catalogTableId: field.optionalText("ID of the table in the catalog of the point of sale"),
});

/**
 * An order as the point of sale sends it. Fields that identify the order or affect figures are required: id,
 * openedAt, amounts, guests, flags and rows. `isTraining` is optional, and false by default.
 */
export const PosOrderData = object({
  id: ClientGeneratedId.meta({
    description: "ID of the order: a UUID. In requests, the UUID can have the prefix `s`, which the API removes.",
  }),
  tillId: field.optionalText("ID of the till that the order belongs to"),
  roomId: field.optionalText("ID of the room in which the order was recorded"),
  revisionHash: field.optionalText("Hash that changes with each revision of the order"),
  deviceIdentifier: field.optionalText("ID of the device on which the order was recorded"),
  deviceName: field.optionalText("Name of the device on which the order was recorded"),
  openedAt: RequestDateTime.describe("When the order was opened"),
  modifiedAt: field.optionalDateTime("When the order was last changed"),
  closedAt: field.optionalDateTime("When the order was closed; null if the order was not closed"),
  paidAt: field.optionalDateTime("When the order was paid; null if the order was not paid"),
  canceledAt: field.optionalDateTime("When the order was canceled; null if the order was not canceled"),
  transferredAt: field.optionalDateTime("When the order was transferred; null if the order was not transferred"),
  firstBillPrintDate: field.optionalDateTime("When the bill was first printed; null if the bill was not printed"),
  postPaymentPrintDate: field.optionalDateTime(
    "When the bill was printed after payment; null if the bill was not printed after payment",
  ),
  total: field.amount("Total including VAT"),
  totalTax: field.amount("VAT included in the total"),
  totalDiscount: field.amount("Sum of the discounts on the order"),
  totalWithoutTax: field.amount("Total excluding VAT"),
  leftToPay: field.amount(
    "Part of the total that has not been paid yet; 0 or negative if guests paid more than the total",
  ),
  guestsCount: field.unitCount("Number of guests"),
  billPrintCount: field.optionalCount("Number of times the bill was printed"),
  proofsOfPaymentCount: field.optionalCount("Number of proofs of payment that were printed for the order"),
  postPaymentPrintCount: field.optionalCount("Number of times the bill was printed after payment"),
  roomType: nullWhenAbsent(z.enum(diningRoomTypes)).describe("Type of the room, such as `room` (dining room) or `bar`"),
  roomPricing: nullWhenAbsent(z.enum(priceListTypes)).meta({
    description: "Type of price list used in the room, such as `normal` or `happyHour`",
  }),
  roomName: field.optionalText("Name of the room in which the order was recorded"),
  tableId: field.optionalText("ID of the table for which the order was recorded"),
  tableName: field.optionalText("Name of the table for which the order was recorded"),
  tablePosX: numberOrTextField("Horizontal position of the table in the room"),
  tablePosY: numberOrTextField("Vertical position of the table in the room"),
  tableShape: numberOrTextField("Shape of the table on the floor plan of the point of sale"),
  beeperNumber: numberOrTextField("Number of the pager given to the customer"),
  comment: field.optionalLongText("Comment on the order; null if there is none"),
  preparationActivated: field.boolean("Whether the order is sent to the kitchen"),
  isMerged: field.boolean("Whether the order was merged with another order"),
  manuallyClosed: field.boolean("Whether the order was closed manually because its total is zero or negative"),
  isPaid: field.boolean("Whether the order was paid in full"),
  isCanceled: field.boolean("Whether the order was canceled. Canceled orders are excluded from totals."),
  canceledReason: field.optionalText(
    "Reason why the order was canceled; null if it was not canceled or no reason was given",
  ),
  fiscalNumber: field.optionalInteger(
    "Number that the point of sale assigned to the order for tax purposes (fiscal number)",
  ),
  signature: field.optionalLongText(
    "Signature that the point of sale computed for the order for tax purposes (fiscal signature)",
  ),
  operatorId: field.optionalText("ID of the clerk who owns the order"),
  operatorName: field.optionalText("Name of the clerk who owns the order"),
  firebaseCustomerName: field.optionalText(
    "Name of the customer in the point of sale's cloud database; null if the customer is anonymous",
  ),
  firebaseCustomerRefKey: field.optionalText(
    "ID of the customer in the point of sale's cloud database; null if the customer is anonymous",
  ),
  firebaseReservationRefKey: field.optionalText("ID of the reservation in the point of sale's cloud database"),
  isPrepaid: field.boolean("Whether the order was paid before it was served"),
  isTransferred: field.boolean(
    "Whether the order was transferred to a hotel's property management system. Transferred orders are excluded from totals.",
  ),
  transferredTo: field.optionalText(
    "Destination of the transfer, such as a hotel room; null if the order was not transferred",
  ),
  externalServiceId: field.optionalText("ID of the order in a service that is connected to the point of sale"),
  extOctorateReservationId: field.optionalText("ID of the reservation in Octorate, a hotel management system"),
  extQoodosCheckInId: field.optionalText("ID of the customer's check-in with the loyalty service Qoodos"),
  extQoodosUserId: field.optionalText("ID of the customer in the loyalty service Qoodos"),
  extQoodosUserName: field.optionalText("Name of the customer in the loyalty service Qoodos"),
  pickupHour: field.optionalText("Pickup time of the order, as free-form text from the point of sale"),
  groupedTableInfo: boundedArray(GroupedTable, 1_000).default([]).describe("Tables that were joined for the order"),
  customerInfo: textOrObjectField("Customer information, as sent by the ordering platform: a string or an object"),
  deliveryCustomerInfo: textOrObjectField(
    "Recipient of the delivery, as sent by the ordering platform: a string or an object",
  ),
  deliveryAddress: textOrObjectField("Delivery address, as sent by the ordering platform: a string or an object"),
  deliveryComment: field.optionalLongText("Comment on the delivery; null if there is none"),
  channel: boundedString(1_024)
    .default("unknown")
    .describe("Sales channel of the order; `unknown` if the point of sale sent none"),
  serviceType: z.enum(orderServiceTypes).default("unknown").meta({
    description:
      "How the customer receives the order: in the restaurant (`eatin`), as takeout or by delivery; `unknown` if the point of sale sent no value",
  }),
  isTraining: field.falseByDefault(
    "Whether the order was recorded in training mode. Training orders are excluded from lists, reports, streams and webhooks.",
  ),
  source: boundedString(1_024).default("unknown").meta({
    description: "Application or platform from which the order comes; `unknown` if the point of sale sent none",
  }),
  externalOrderId: field.optionalText(
    "ID that an external service, such as an ordering platform, assigned to the order",
  ),
  externalLocationId: field.optionalText(
    "ID that an external service, such as an ordering platform, uses for the location",
  ),
  paymentRowList: boundedArray(PosOrderPaymentRow, 5_000).describe("Payments for the order"),
  productRowList: boundedArray(PosOrderProductRow, 5_000).meta({
    description: "Products of the order that are not part of a set menu",
  }),
  menuRowList: boundedArray(PosOrderMenuRow, 1_000).describe("Set menus of the order"),
}).meta({ id: "OrderDataInput", description: "An order as the point of sale sends it", example: orderDataExample });

export type PosOrderData = z.infer<typeof PosOrderData>;

/** Returns the schema of a row in a response, in which every field is present, with the responses of its own rows. */
function createRowResponse<Row extends z.ZodObject, Rows extends z.ZodRawShape>(id: string, row: Row, rows: Rows) {
  const { description, example } = row.meta() ?? {};
  return object({ ...withoutFieldDefaults<Row["shape"]>(row.shape), ...rows }).meta({
    id,
    description,
    example: row.parse(example),
  });
}

const productRowResponse = createRowResponse("ProductRow", PosOrderProductRow, {
  modifierRowList: array(createRowResponse("ModifierRow", PosOrderModifierRow, {})).describe(
    "Selected modifier options",
  ),
  discountRowList: array(createRowResponse("DiscountRow", PosOrderDiscountRow, {})).describe(
    "Discounts on the product",
  ),
});
const menuRowResponse = createRowResponse("MenuRow", PosOrderMenuRow, {
  productRowList: array(productRowResponse).describe("Products in the menu"),
});

const { createdAt, updatedAt, locationId, reportId } = orderV1Example;
const recordExample = { tillId: tillV2Example.id, locationId, reportId, createdAt, updatedAt };

export const OrderV2 = object({
  ...withoutFieldDefaults(PosOrderData.shape),
  createdAt: field.dateTime("When the API first computed the order from its till"),
  updatedAt: field.dateTime("When the API last computed the order from its till"),
  locationId: field.uuid("ID of the location"),
  reportId: field.uuid("ID of the report that contains the order"),
  groupedTableInfo: array(object(withoutFieldDefaults(GroupedTable.shape))).meta({
    description: "Tables that were joined for the order",
  }),
  paymentRowList: array(createRowResponse("PaymentRow", PosOrderPaymentRow, {})).describe("Payments for the order"),
  productRowList: array(productRowResponse).describe("Products of the order that are not part of a set menu"),
  menuRowList: array(menuRowResponse).describe("Set menus of the order"),
}).meta({
  id: "OrderV2",
  description: "An order of a closed shift, with all fields from the point of sale",
  example: { ...PosOrderData.parse(orderDataExample), ...recordExample },
});

export type OrderV2 = z.infer<typeof OrderV2>;
