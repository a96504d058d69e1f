import { z } from "zod";
import { RequestDateTime, UtcDateTimeSchema } from "./date-time.ts";
import { diningRoomTypes, orderServiceTypes, priceListTypes } from "./enumerations.ts";
import { orderV1Example } from "./examples/order-v1.ts";
import {
  discountRowExample,
  menuRowExample,
  modifierRowExample,
  orderDataExample,
  paymentRowExample,
  productRowExample,
  tillV2Example,
} from "./examples/till-v2.ts";
import {
  amountField,
  booleanField,
  boundedArray,
  boundedString,
  ClientGeneratedId,
  nullWhenAbsent,
  optionalCountField,
  optionalIntegerField,
  optionalLongTextField,
  optionalTextField,
  unitCountField,
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
        .refine((object) => Object.keys(object).length <= maxPlatformFields, {
          error: `Must have at most ${maxPlatformFields} fields`,
        })
        .refine((object) => isWithinDepth(maxNestingDepth, object), {
          error: `Must have at most ${maxNestingDepth} levels of nesting`,
        }),
    ]),
  ).meta({ description });

/** Returns whether a value has at most `levels` nested levels. Does not read deeper, to prevent a stack overflow. */
function isWithinDepth(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithinDepth(levels - 1, inner));
}

/** A value that some applications send as a number and other applications as a text, such as a table's position. */
const numberOrTextField = (description: string) =>
  nullWhenAbsent(z.union([z.number(), boundedString(255)])).meta({ description });

const GroupedTable = z.object({
  id: optionalTextField("ID of the table within the order"),
  catalogTableId: optionalTextField("ID of the table in the catalog of the point of sale"),
});

/**
 * An order as the point of sale sends it. Fields that identify the order or affect figures are required: id,
 * openedAt, amounts, guests, flags and rows. `isTraining` is optional, and false by default.
 */
export const PosOrderData = z
  .object({
    id: ClientGeneratedId.meta({
      description: "ID of the order: a UUID. In requests, the UUID can have the prefix `s`, which the API removes.",
    }),
    tillId: optionalTextField("ID of the till that the order belongs to"),
    roomId: optionalTextField("ID of the room in which the order was recorded"),
    revisionHash: optionalTextField("Hash that changes with each revision of the order"),
    deviceIdentifier: optionalTextField("ID of the device on which the order was recorded"),
    deviceName: optionalTextField("Name of the device on which the order was recorded"),
    openedAt: RequestDateTime.meta({ description: "When the order was opened" }),
    modifiedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the order was last changed" }),
    closedAt: nullWhenAbsent(RequestDateTime).meta({
      description: "When the order was closed; null if the order was not closed",
    }),
    paidAt: nullWhenAbsent(RequestDateTime).meta({
      description: "When the order was paid; null if the order was not paid",
    }),
    canceledAt: nullWhenAbsent(RequestDateTime).meta({
      description: "When the order was canceled; null if the order was not canceled",
    }),
    transferredAt: nullWhenAbsent(RequestDateTime).meta({
      description: "When the order was transferred; null if the order was not transferred",
    }),
    firstBillPrintDate: nullWhenAbsent(RequestDateTime).meta({
      description: "When the bill was first printed; null if the bill was not printed",
    }),
    postPaymentPrintDate: nullWhenAbsent(RequestDateTime).meta({
      description: "When the bill was printed after payment; null if the bill was not printed after payment",
    }),
    total: amountField("Total including VAT"),
    totalTax: amountField("VAT included in the total"),
    totalDiscount: amountField("Sum of the discounts on the order"),
    totalWithoutTax: amountField("Total excluding VAT"),
    leftToPay: amountField(
      "Part of the total that has not been paid yet; 0 or negative if guests paid more than the total",
    ),
    guestsCount: unitCountField("Number of guests"),
    billPrintCount: optionalCountField("Number of times the bill was printed"),
    proofsOfPaymentCount: optionalCountField("Number of proofs of payment that were printed for the order"),
    postPaymentPrintCount: optionalCountField("Number of times the bill was printed after payment"),
    roomType: nullWhenAbsent(z.enum(diningRoomTypes)).meta({
      description: "Type of the room, such as `room` (dining room) or `bar`",
    }),
    roomPricing: nullWhenAbsent(z.enum(priceListTypes)).meta({
      description: "Type of price list used in the room, such as `normal` or `happyHour`",
    }),
    roomName: optionalTextField("Name of the room in which the order was recorded"),
    tableId: optionalTextField("ID of the table for which the order was recorded"),
    tableName: optionalTextField("Name of the table for which the order was recorded"),
    tablePosX: numberOrTextField("Horizontal position of the table in the room"),
    tablePosY: numberOrTextField("Vertical position of the table in the room"),
    tableShape: numberOrTextField("Shape of the table on the floor plan of the point of sale"),
    beeperNumber: numberOrTextField("Number of the pager given to the customer"),
    comment: optionalLongTextField("Comment on the order; null if there is none"),
    preparationActivated: booleanField("Whether the order is sent to the kitchen"),
    isMerged: booleanField("Whether the order was merged with another order"),
    manuallyClosed: booleanField("Whether the order was closed manually because its total is zero or negative"),
    isPaid: booleanField("Whether the order was paid in full"),
    isCanceled: booleanField("Whether the order was canceled. Canceled orders are excluded from totals."),
    canceledReason: optionalTextField(
      "Reason why the order was canceled; null if it was not canceled or no reason was given",
    ),
    fiscalNumber: optionalIntegerField(
      "Number that the point of sale assigned to the order for tax purposes (fiscal number)",
    ),
    signature: optionalLongTextField(
      "Signature that the point of sale computed for the order for tax purposes (fiscal signature)",
    ),
    operatorId: optionalTextField("ID of the clerk who owns the order"),
    operatorName: optionalTextField("Name of the clerk who owns the order"),
    firebaseCustomerName: optionalTextField(
      "Name of the customer in the point of sale's cloud database; null if the customer is anonymous",
    ),
    firebaseCustomerRefKey: optionalTextField(
      "ID of the customer in the point of sale's cloud database; null if the customer is anonymous",
    ),
    firebaseReservationRefKey: optionalTextField("ID of the reservation in the point of sale's cloud database"),
    isPrepaid: booleanField("Whether the order was paid before it was served"),
    isTransferred: booleanField(
      "Whether the order was transferred to a hotel's property management system. Transferred orders are excluded from totals.",
    ),
    transferredTo: optionalTextField(
      "Destination of the transfer, such as a hotel room; null if the order was not transferred",
    ),
    externalServiceId: optionalTextField("ID of the order in a service that is connected to the point of sale"),
    extOctorateReservationId: optionalTextField("ID of the reservation in Octorate, a hotel management system"),
    extQoodosCheckInId: optionalTextField("ID of the customer's check-in with the loyalty service Qoodos"),
    extQoodosUserId: optionalTextField("ID of the customer in the loyalty service Qoodos"),
    extQoodosUserName: optionalTextField("Name of the customer in the loyalty service Qoodos"),
    pickupHour: optionalTextField("Pickup time of the order, as free-form text from the point of sale"),
    groupedTableInfo: boundedArray(GroupedTable, 1_000)
      .default([])
      .meta({ description: "Tables that were joined for the order" }),
    customerInfo: textOrObjectField("Customer information, as sent by the ordering platform: a string or an object"),
    deliveryCustomerInfo: textOrObjectField(
      "Recipient of the delivery, as sent by the ordering platform: a string or an object",
    ),
    deliveryAddress: textOrObjectField("Delivery address, as sent by the ordering platform: a string or an object"),
    deliveryComment: optionalLongTextField("Comment on the delivery; null if there is none"),
    channel: boundedString(1_024)
      .default("unknown")
      .meta({ description: "Sales channel of the order; `unknown` if the point of sale sent none" }),
    serviceType: z.enum(orderServiceTypes).default("unknown").meta({
      description:
        "How the customer receives the order: in the restaurant (`eatin`), as takeout or by delivery; `unknown` if the point of sale sent no value",
    }),
    isTraining: z.boolean().default(false).meta({
      description:
        "Whether the order was recorded in training mode. Training orders are excluded from lists, reports, streams and webhooks.",
    }),
    source: boundedString(1_024).default("unknown").meta({
      description: "Application or platform from which the order comes; `unknown` if the point of sale sent none",
    }),
    externalOrderId: optionalTextField(
      "ID that an external service, such as an ordering platform, assigned to the order",
    ),
    externalLocationId: optionalTextField(
      "ID that an external service, such as an ordering platform, uses for the location",
    ),
    paymentRowList: boundedArray(PosOrderPaymentRow, 5_000).meta({ description: "Payments for the order" }),
    productRowList: boundedArray(PosOrderProductRow, 5_000).meta({
      description: "Products of the order that are not part of a set menu",
    }),
    menuRowList: boundedArray(PosOrderMenuRow, 1_000).meta({ description: "Set menus of the order" }),
  })
  .meta({ id: "OrderDataInput", description: "An order as the point of sale sends it", example: orderDataExample });

export type PosOrderData = z.infer<typeof PosOrderData>;

/** A modifier row of an order in a response, in which every field is present. */
const modifierRowResponse = z.object(withoutFieldDefaults(PosOrderModifierRow.shape)).meta({
  id: "ModifierRow",
  description: "A modifier option selected for a product",
  example: PosOrderModifierRow.parse(modifierRowExample),
});

const discountRowResponse = z.object(withoutFieldDefaults(PosOrderDiscountRow.shape)).meta({
  id: "DiscountRow",
  description: "A discount on a product",
  example: PosOrderDiscountRow.parse(discountRowExample),
});

const paymentRowResponse = z.object(withoutFieldDefaults(PosOrderPaymentRow.shape)).meta({
  id: "PaymentRow",
  description: "A payment for an order, or a related amount such as a tip or change",
  example: PosOrderPaymentRow.parse(paymentRowExample),
});

const productRowResponse = z
  .object({
    ...withoutFieldDefaults(PosOrderProductRow.shape),
    modifierRowList: z.array(modifierRowResponse).meta({ description: "Selected modifier options" }),
    discountRowList: z.array(discountRowResponse).meta({ description: "Discounts on the product" }),
  })
  .meta({
    id: "ProductRow",
    description: "A product in an order",
    example: PosOrderProductRow.parse(productRowExample),
  });

const menuRowResponse = z
  .object({
    ...withoutFieldDefaults(PosOrderMenuRow.shape),
    productRowList: z.array(productRowResponse).meta({ description: "Products in the menu" }),
  })
  .meta({ id: "MenuRow", description: "A set menu in an order", example: PosOrderMenuRow.parse(menuRowExample) });

const groupedTableResponse = z.object(withoutFieldDefaults(GroupedTable.shape));

const orderV2Example = {
  ...PosOrderData.parse(orderDataExample),
  tillId: tillV2Example.id,
  locationId: orderV1Example.locationId,
  reportId: orderV1Example.reportId,
  createdAt: orderV1Example.createdAt,
  updatedAt: orderV1Example.updatedAt,
};

/** An order of a till with all fields from the point of sale, and with the ids of its location and report. */
export const OrderV2 = z
  .object({
    ...withoutFieldDefaults(PosOrderData.shape),
    createdAt: UtcDateTimeSchema.meta({ description: "When the API first computed the order from its till" }),
    updatedAt: UtcDateTimeSchema.meta({ description: "When the API last computed the order from its till" }),
    locationId: z.guid().meta({ description: "ID of the location" }),
    reportId: z.guid().meta({ description: "ID of the report that contains the order" }),
    groupedTableInfo: z.array(groupedTableResponse).meta({ description: "Tables that were joined for the order" }),
    paymentRowList: z.array(paymentRowResponse).meta({ description: "Payments for the order" }),
    productRowList: z
      .array(productRowResponse)
      .meta({ description: "Products of the order that are not part of a set menu" }),
    menuRowList: z.array(menuRowResponse).meta({ description: "Set menus of the order" }),
  })
  .meta({
    id: "OrderV2",
    description: "An order of a closed shift, with all fields from the point of sale",
    example: orderV2Example,
  });

export type OrderV2 = z.infer<typeof OrderV2>;
