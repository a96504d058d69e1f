import { z } from "zod";
import { DateTime, UtcDateTime } from "./date-time.ts";
import { pricingTypes, roomTypes, serviceTypes } from "./enumerations.ts";
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
  amount,
  ClientId,
  flag,
  limitedList,
  limitedText,
  optionalCount,
  optionalInteger,
  optionalLongText,
  optionalText,
  orNull,
  units,
  withoutDefaults,
} from "./fields.ts";
import { DiscountRow, MenuRow, ModifierRow, PaymentRow, ProductRow } from "./order-rows.ts";

const maxFields = 200;
const maxLevels = 16;

/**
 * A person or a place as an ordering platform sends it: a text, or an object whose fields are the platform's own, of at
 * most 200 fields and 16 levels.
 */
const ofAnyShape = (description: string) =>
  orNull(
    z.union([
      limitedText(10_000),
      z
        .record(limitedText(255), z.unknown())
        .refine((object) => Object.keys(object).length <= maxFields, {
          error: `Must have at most ${maxFields} fields`,
        })
        .refine((object) => nestsAtMost(maxLevels, object), { error: `Must nest at most ${maxLevels} levels deep` }),
    ]),
  ).meta({ description });

/** Whether a value nests at most so many levels. It looks no deeper, so that no nesting can exhaust the stack. */
function nestsAtMost(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => nestsAtMost(levels - 1, inner));
}

/** Where a table stands and what it looks like: applications write it as numbers or as words. */
const numberOrText = (description: string) => orNull(z.union([z.number(), limitedText(255)])).meta({ description });

const GroupedTable = z.object({
  id: optionalText("Id of the table in the order"),
  catalogTableId: optionalText("Id of the table in the catalogue"),
});

/**
 * An order as the point of sale knows it. Required is what identifies it and what decides whether and for how much it
 * counts: id, openedAt, amounts, guests, flags and rows; only `isTraining` is false when absent.
 */
export const OrderData = z
  .object({
    id: ClientId.meta({ description: "Id of the order" }),
    tillId: optionalText("Id of the till that it belongs to"),
    roomId: optionalText("Id of the room"),
    revisionHash: optionalText("Renewed on each change of the order"),
    deviceIdentifier: optionalText("Id of the device"),
    deviceName: optionalText("Name of the device"),
    openedAt: DateTime.meta({ description: "When it was opened" }),
    modifiedAt: orNull(DateTime).meta({ description: "When it last changed" }),
    closedAt: orNull(DateTime).meta({ description: "When it was closed" }),
    paidAt: orNull(DateTime).meta({ description: "When it was paid" }),
    canceledAt: orNull(DateTime).meta({ description: "When it was canceled" }),
    transferredAt: orNull(DateTime).meta({ description: "When it was transferred" }),
    firstBillPrintDate: orNull(DateTime).meta({ description: "When its bill was first printed" }),
    postPaymentPrintDate: orNull(DateTime).meta({ description: "When its bill was printed after payment" }),
    total: amount("Total, VAT included"),
    totalTax: amount("VAT in the total"),
    totalDiscount: amount("What discounts take off"),
    totalWithoutTax: amount("Total without VAT"),
    leftToPay: amount("What is left to pay"),
    guestsCount: units("How many guests"),
    billPrintCount: optionalCount("How often its bill was printed"),
    proofsOfPaymentCount: optionalCount("How many proofs of payment were printed"),
    postPaymentPrintCount: optionalCount("How often its bill was printed after payment"),
    roomType: orNull(z.enum(roomTypes)).meta({ description: "Kind of room" }),
    roomPricing: orNull(z.enum(pricingTypes)).meta({ description: "Price list of the room" }),
    roomName: optionalText("Name of the room"),
    tableId: optionalText("Id of the table"),
    tableName: optionalText("Name of the table"),
    tablePosX: numberOrText("Where the table stands in the room"),
    tablePosY: numberOrText("Where the table stands in the room"),
    tableShape: numberOrText("Shape of the table"),
    beeperNumber: numberOrText("Number of the beeper given to the customer"),
    comment: optionalLongText("Comment"),
    preparationActivated: flag("Whether the kitchen is told of it"),
    isMerged: flag("Whether it was merged with another order"),
    manuallyClosed: flag("Closed with a zero or negative total"),
    isPaid: flag("Whether it is paid"),
    isCanceled: flag("Canceled: it does not count in totals"),
    canceledReason: optionalText("Why it was canceled"),
    fiscalNumber: optionalInteger("Fiscal number"),
    signature: optionalLongText("Fiscal signature"),
    operatorId: optionalText("Id of the clerk who owns it"),
    operatorName: optionalText("Name of the clerk who owns it"),
    firebaseCustomerName: optionalText("Name of the customer in the cloud database"),
    firebaseCustomerRefKey: optionalText("Reference of the customer in the cloud database; null if anonymous"),
    firebaseReservationRefKey: optionalText("Reference of the reservation in the cloud database"),
    isPrepaid: flag("Whether it was paid before it was served"),
    isTransferred: flag("Transferred to a hotel's property-management system: it does not count in totals"),
    transferredTo: optionalText("Where it was transferred to"),
    externalServiceId: optionalText("Id in an external service"),
    extOctorateReservationId: optionalText("Reservation in the hotel system"),
    extQoodosCheckInId: optionalText("Check-in in the loyalty service"),
    extQoodosUserId: optionalText("Id of the customer in the loyalty service"),
    extQoodosUserName: optionalText("Name of the customer in the loyalty service"),
    pickupHour: optionalText("When the customer fetches it"),
    groupedTableInfo: limitedList(GroupedTable, 1_000)
      .default([])
      .meta({ description: "Tables that were put together" }),
    customerInfo: ofAnyShape("The customer, as the ordering platform describes them"),
    deliveryCustomerInfo: ofAnyShape("Whom it is delivered to, as the ordering platform describes them"),
    deliveryAddress: ofAnyShape("Where it is delivered to"),
    deliveryComment: optionalLongText("Comment for the delivery"),
    channel: limitedText(1_024).default("unknown").meta({ description: "Channel that it came through" }),
    serviceType: z.enum(serviceTypes).default("unknown").meta({ description: "How it is served" }),
    isTraining: z.boolean().default(false).meta({ description: "Made in school mode: it is left out of everything" }),
    source: limitedText(1_024).default("unknown").meta({ description: "Where it came from" }),
    externalOrderId: optionalText("Id of the order in an external service"),
    externalLocationId: optionalText("Id of the location in an external service"),
    paymentRowList: limitedList(PaymentRow, 5_000).meta({ description: "Its payments" }),
    productRowList: limitedList(ProductRow, 5_000).meta({ description: "Its products that are not part of a menu" }),
    menuRowList: limitedList(MenuRow, 1_000).meta({ description: "Its menus" }),
  })
  .meta({ id: "OrderDataInput", description: "An order as the point of sale knows it", example: orderDataExample });

export type OrderData = z.infer<typeof OrderData>;

/** The rows of an order as replies carry them: every field is there. */
const modifierRow = z.object(withoutDefaults(ModifierRow.shape)).meta({
  id: "ModifierRow",
  description: "A choice made for a product",
  example: ModifierRow.parse(modifierRowExample),
});

const discountRow = z
  .object(withoutDefaults(DiscountRow.shape))
  .meta({ id: "DiscountRow", description: "A discount on a product", example: DiscountRow.parse(discountRowExample) });

const paymentRow = z
  .object(withoutDefaults(PaymentRow.shape))
  .meta({ id: "PaymentRow", description: "A payment of an order", example: PaymentRow.parse(paymentRowExample) });

const productRow = z
  .object({
    ...withoutDefaults(ProductRow.shape),
    modifierRowList: z.array(modifierRow).meta({ description: "Choices made for it" }),
    discountRowList: z.array(discountRow).meta({ description: "Discounts on it" }),
  })
  .meta({ id: "ProductRow", description: "A product of an order", example: ProductRow.parse(productRowExample) });

const menuRow = z
  .object({
    ...withoutDefaults(MenuRow.shape),
    productRowList: z.array(productRow).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuRow", description: "A set menu of an order", example: MenuRow.parse(menuRowExample) });

const groupedTable = z.object(withoutDefaults(GroupedTable.shape));

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
    ...withoutDefaults(OrderData.shape),
    createdAt: UtcDateTime.meta({ description: "When the order was first received" }),
    updatedAt: UtcDateTime.meta({ description: "When the order was last received" }),
    locationId: z.guid().meta({ description: "The location that it is of" }),
    reportId: z.guid().meta({ description: "The report that it is part of" }),
    groupedTableInfo: z.array(groupedTable).meta({ description: "Tables that were put together" }),
    paymentRowList: z.array(paymentRow).meta({ description: "Its payments" }),
    productRowList: z.array(productRow).meta({ description: "Its products that are not part of a menu" }),
    menuRowList: z.array(menuRow).meta({ description: "Its menus" }),
  })
  .meta({ id: "OrderV2", description: "An order of a till, whole", example: orderV2Example });

export type OrderV2 = z.infer<typeof OrderV2>;
