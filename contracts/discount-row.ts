import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { rowStatuses } from "./enumerations.ts";
import { discountRowExample } from "./examples/till-v2.ts";
import { amount, flag, optionalText, orNull, rowId } from "./fields.ts";

/** One discount on a product. Rows that share a discountGroupId are one discount over several products. */
export const DiscountRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: orNull(DateTime).meta({ description: "When it was given" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    amount: amount("What the discount takes off this product"),
    status: z.enum(rowStatuses).meta({ description: "Only a validated discount counts" }),
    splitAllowed: flag("Whether it may be split over several bills"),
    name: optionalText("Name of the discount"),
    discountId: optionalText("Id of the discount in the catalogue"),
    discountGroupId: optionalText("Shared by the rows of one discount that spans several products"),
    extQoodosCheckInId: optionalText("Check-in of the loyalty service that gave it"),
  })
  .meta({ id: "DiscountRowInput", description: "A discount on a product", example: discountRowExample });

export type DiscountRow = z.infer<typeof DiscountRow>;
