import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
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
import { withoutDefaults } from "./fields.ts";
import { GroupedTable, OrderData } from "./order-data.ts";
import { DiscountRow, MenuRow, ModifierRow, PaymentRow, ProductRow } from "./order-rows.ts";

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
