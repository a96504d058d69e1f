import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { modifierRowExample } from "./examples/till-v2.ts";
import { amount, optionalInteger, optionalText, orNull, rowId } from "./fields.ts";

/** One choice made for a product: a cooking, a topping. Its amount is part of the product row's total. */
export const ModifierRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: orNull(DateTime).meta({ description: "When it was chosen" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    amount: amount("Price of the choice, for one unit of the product"),
    name: optionalText("Name of the choice"),
    modifierIndex: optionalInteger("Place of the choice in its group"),
    modifierGroupName: optionalText("Name of the group"),
    modifierGroupIndex: optionalInteger("Place of the group"),
    modifierId: optionalText("Id of the choice in the catalogue"),
    modifierGroupId: optionalText("Id of the group in the catalogue"),
  })
  .meta({ id: "ModifierRowInput", description: "A choice made for a product", example: modifierRowExample });

export type ModifierRow = z.infer<typeof ModifierRow>;
