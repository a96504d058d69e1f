import { z } from "zod";
import { DateTime, UtcDateTime } from "./date-time.ts";
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
import { DiscountRow, MenuRow, ModifierRow, PaymentRow, ProductRow } from "./order-rows.ts";

const maxPlatformFields = 200;
const maxNestingDepth = 16;

/**
 * A person or a place as an ordering platform sends it: a text, or an object whose fields are the platform's own, of at
 * most 200 fields and 16 levels.
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
          error: `Must nest at most ${maxNestingDepth} levels deep`,
        }),
    ]),
  ).meta({ description });

/** Whether a value nests at most so many levels. It looks no deeper, so that no nesting can exhaust the stack. */
function isWithinDepth(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithinDepth(levels - 1, inner));
}

/** Where a table stands and what it looks like: applications write it as numbers or as words. */
const numberOrTextField = (description: string) =>
  nullWhenAbsent(z.union([z.number(), boundedString(255)])).meta({ description });

const GroupedTable = z.object({
  id: optionalTextField("Id of the table in the order"),
  catalogTableId: optionalTextField("Id of the table in the catalogue"),
});

/**
 * An order as the point of sale knows it. Required is what identifies it and what decides whether and for how much it
 * counts: id, openedAt, amounts, guests, flags and rows; only `isTraining` is false when absent.
 */
export const OrderData = z
  .object({
    id: ClientGeneratedId.meta({ description: "Id of the order" }),
    tillId: optionalTextField("Id of the till that it belongs to"),
    roomId: optionalTextField("Id of the room"),
    revisionHash: optionalTextField("Renewed on each change of the order"),
    deviceIdentifier: optionalTextField("Id of the device"),
    deviceName: optionalTextField("Name of the device"),
    openedAt: DateTime.meta({ description: "When it was opened" }),
    modifiedAt: nullWhenAbsent(DateTime).meta({ description: "When it last changed" }),
    closedAt: nullWhenAbsent(DateTime).meta({ description: "When it was closed" }),
    paidAt: nullWhenAbsent(DateTime).meta({ description: "When it was paid" }),
    canceledAt: nullWhenAbsent(DateTime).meta({ description: "When it was canceled" }),
    transferredAt: nullWhenAbsent(DateTime).meta({ description: "When it was transferred" }),
    firstBillPrintDate: nullWhenAbsent(DateTime).meta({ description: "When its bill was first printed" }),
    postPaymentPrintDate: nullWhenAbsent(DateTime).meta({ description: "When its bill was printed after payment" }),
    total: amountField("Total, VAT included"),
    totalTax: amountField("VAT in the total"),
    totalDiscount: amountField("What discounts take off"),
    totalWithoutTax: amountField("Total without VAT"),
    leftToPay: amountField("What is left to pay"),
    guestsCount: unitCountField("How many guests"),
    billPrintCount: optionalCountField("How often its bill was printed"),
    proofsOfPaymentCount: optionalCountField("How many proofs of payment were printed"),
    postPaymentPrintCount: optionalCountField("How often its bill was printed after payment"),
    roomType: nullWhenAbsent(z.enum(diningRoomTypes)).meta({ description: "Kind of room" }),
    roomPricing: nullWhenAbsent(z.enum(priceListTypes)).meta({ description: "Price list of the room" }),
    roomName: optionalTextField("Name of the room"),
    tableId: optionalTextField("Id of the table"),
    tableName: optionalTextField("Name of the table"),
    tablePosX: numberOrTextField("Where the table stands in the room"),
    tablePosY: numberOrTextField("Where the table stands in the room"),
    tableShape: numberOrTextField("Shape of the table"),
    beeperNumber: numberOrTextField("Number of the beeper given to the customer"),
    comment: optionalLongTextField("Comment"),
    preparationActivated: booleanField("Whether the kitchen is told of it"),
    isMerged: booleanField("Whether it was merged with another order"),
    manuallyClosed: booleanField("Closed with a zero or negative total"),
    isPaid: booleanField("Whether it is paid"),
    isCanceled: booleanField("Canceled: it does not count in totals"),
    canceledReason: optionalTextField("Why it was canceled"),
    fiscalNumber: optionalIntegerField("Fiscal number"),
    signature: optionalLongTextField("Fiscal signature"),
    operatorId: optionalTextField("Id of the clerk who owns it"),
    operatorName: optionalTextField("Name of the clerk who owns it"),
    firebaseCustomerName: optionalTextField("Name of the customer in the cloud database"),
    firebaseCustomerRefKey: optionalTextField("Reference of the customer in the cloud database; null if anonymous"),
    firebaseReservationRefKey: optionalTextField("Reference of the reservation in the cloud database"),
    isPrepaid: booleanField("Whether it was paid before it was served"),
    isTransferred: booleanField("Transferred to a hotel's property-management system: it does not count in totals"),
    transferredTo: optionalTextField("Where it was transferred to"),
    externalServiceId: optionalTextField("Id in an external service"),
    extOctorateReservationId: optionalTextField("Reservation in the hotel system"),
    extQoodosCheckInId: optionalTextField("Check-in in the loyalty service"),
    extQoodosUserId: optionalTextField("Id of the customer in the loyalty service"),
    extQoodosUserName: optionalTextField("Name of the customer in the loyalty service"),
    pickupHour: optionalTextField("When the customer fetches it"),
    groupedTableInfo: boundedArray(GroupedTable, 1_000)
      .default([])
      .meta({ description: "Tables that were put together" }),
    customerInfo: textOrObjectField("The customer, as the ordering platform describes them"),
    deliveryCustomerInfo: textOrObjectField("Whom it is delivered to, as the ordering platform describes them"),
    deliveryAddress: textOrObjectField("Where it is delivered to"),
    deliveryComment: optionalLongTextField("Comment for the delivery"),
    channel: boundedString(1_024).default("unknown").meta({ description: "Channel that it came through" }),
    serviceType: z.enum(orderServiceTypes).default("unknown").meta({ description: "How it is served" }),
    isTraining: z.boolean().default(false).meta({ description: "Made in school mode: it is left out of everything" }),
    source: boundedString(1_024).default("unknown").meta({ description: "Where it came from" }),
    externalOrderId: optionalTextField("Id of the order in an external service"),
    externalLocationId: optionalTextField("Id of the location in an external service"),
    paymentRowList: boundedArray(PaymentRow, 5_000).meta({ description: "Its payments" }),
    productRowList: boundedArray(ProductRow, 5_000).meta({ description: "Its products that are not part of a menu" }),
    menuRowList: boundedArray(MenuRow, 1_000).meta({ description: "Its menus" }),
  })
  .meta({ id: "OrderDataInput", description: "An order as the point of sale knows it", example: orderDataExample });

export type OrderData = z.infer<typeof OrderData>;

/** The rows of an order as replies carry them: every field is there. */
const modifierRowResponse = z.object(withoutFieldDefaults(ModifierRow.shape)).meta({
  id: "ModifierRow",
  description: "A choice made for a product",
  example: ModifierRow.parse(modifierRowExample),
});

const discountRowResponse = z
  .object(withoutFieldDefaults(DiscountRow.shape))
  .meta({ id: "DiscountRow", description: "A discount on a product", example: DiscountRow.parse(discountRowExample) });

const paymentRowResponse = z
  .object(withoutFieldDefaults(PaymentRow.shape))
  .meta({ id: "PaymentRow", description: "A payment of an order", example: PaymentRow.parse(paymentRowExample) });

const productRowResponse = z
  .object({
    ...withoutFieldDefaults(ProductRow.shape),
    modifierRowList: z.array(modifierRowResponse).meta({ description: "Choices made for it" }),
    discountRowList: z.array(discountRowResponse).meta({ description: "Discounts on it" }),
  })
  .meta({ id: "ProductRow", description: "A product of an order", example: ProductRow.parse(productRowExample) });

const menuRowResponse = z
  .object({
    ...withoutFieldDefaults(MenuRow.shape),
    productRowList: z.array(productRowResponse).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuRow", description: "A set menu of an order", example: MenuRow.parse(menuRowExample) });

const groupedTableResponse = z.object(withoutFieldDefaults(GroupedTable.shape));

const orderV2Example = {
  ...OrderData.parse(orderDataExample),
  tillId: tillV2Example.id,
  locationId: orderV1Example.locationId,
  reportId: orderV1Example.reportId,
  createdAt: orderV1Example.createdAt,
  updatedAt: orderV1Example.updatedAt,
};

/** An order of a till, whole: what the point of sale knows of it, and where it belongs. */
export const OrderV2 = z
  .object({
    ...withoutFieldDefaults(OrderData.shape),
    createdAt: UtcDateTime.meta({ description: "When the order was first received" }),
    updatedAt: UtcDateTime.meta({ description: "When the order was last received" }),
    locationId: z.guid().meta({ description: "The location that it is of" }),
    reportId: z.guid().meta({ description: "The report that it is part of" }),
    groupedTableInfo: z.array(groupedTableResponse).meta({ description: "Tables that were put together" }),
    paymentRowList: z.array(paymentRowResponse).meta({ description: "Its payments" }),
    productRowList: z.array(productRowResponse).meta({ description: "Its products that are not part of a menu" }),
    menuRowList: z.array(menuRowResponse).meta({ description: "Its menus" }),
  })
  .meta({ id: "OrderV2", description: "An order of a till, whole", example: orderV2Example });

export type OrderV2 = z.infer<typeof OrderV2>;
