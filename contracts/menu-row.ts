import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { pricingTypes } from "./enumerations.ts";
import { menuRowExample } from "./examples/till-v2.ts";
import { amount, optionalAmount, optionalCurrency, optionalText, orNull, rowId } from "./fields.ts";
import { limitedList } from "./length-limits.ts";
import { ProductRow } from "./product-row.ts";

/** One set menu of an order, with the products that it is made of. Its total is the sum of theirs. */
export const MenuRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: orNull(DateTime).meta({ description: "When it was taken" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    unitPriceRow: optionalAmount("Price of the menu"),
    currencyCode: optionalCurrency(),
    amountToAdd: optionalAmount("What the menu adds to the sum of its products' prices"),
    amountToSubtract: optionalAmount("What the menu takes off the sum of its products' prices"),
    pricingId: optionalText("Id of the price list"),
    menuId: optionalText("Id of the menu in the catalogue"),
    pricingName: optionalText("Name of the price list"),
    pricingType: orNull(z.enum(pricingTypes)).meta({ description: "Which price list applied" }),
    name: optionalText("Name of the menu"),
    parentMenuRowId: optionalText(
      "For the child of a split bill: the row that it was split from. Such a row adds to sales, not to quantities",
    ),
    totalRow: amount("Total of the menu, VAT included"),
    productRowList: limitedList(ProductRow, 5_000).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuRowInput", description: "A set menu of an order", example: menuRowExample });

export type MenuRow = z.infer<typeof MenuRow>;
