import { object, z } from "zod";
import { addIssue, boundedArray, field } from "./fields.ts";

/** The largest number of orders in one request for an erasure. */
const maxErasedOrders = 1_000;

const earliestErasureDay = "2000-01-01";

/** A day until today: a later one, such as after a typing error in the year, would erase the data of all tills. */
const erasureDay = z.iso.date().superRefine((day, context) => {
  const today = new Date().toISOString().slice(0, 10);
  const message = `Must be a day from ${earliestErasureDay} to ${today}, which is today in UTC`;
  if (day < earliestErasureDay) addIssue(context, "too_small", message);
  if (day > today) addIssue(context, "too_big", message);
});

/** Reports an issue unless exactly one of the two fields is set, even if a field has other issues. */
const selectionCheck = z.superRefine<{ orderIds?: unknown; before?: unknown }>(({ orderIds, before }, context) => {
  if (orderIds === undefined && before === undefined)
    addIssue(context, "required", "Must have `orderIds`, a list of order IDs, or `before`, a day as YYYY-MM-DD");
  if (orderIds !== undefined && before !== undefined)
    addIssue(context, "conflict", "Must not have both `orderIds` and `before`: send two requests");
});
selectionCheck._zod.def.when = ({ value }) => typeof value === "object" && value !== null && !Array.isArray(value);

export const CreateErasureRequest = object({
  locationId: field.uuid("ID of the location"),
  orderIds: boundedArray(z.guid().toLowerCase(), maxErasedOrders, { min: 1 })
    .optional()
    .meta({
      description: "IDs of the orders whose personal data is erased. Required without `before`",
      example: ["8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2"],
    }),
  before: erasureDay.optional().meta({
    description: `Day in UTC, as YYYY-MM-DD, from ${earliestErasureDay} to today. The personal data of all tills that were pushed before it is erased. Required without \`orderIds\`, and not allowed with it`,
    example: "2025-06-01",
  }),
})
  .check(selectionCheck)
  .meta({
    id: "CreateErasure",
    description:
      "What to erase: the personal data of some orders of a location (`orderIds`), or of its tills before a day (`before`)",
    example: {
      locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
      orderIds: ["8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2"],
    },
  });

export type CreateErasureRequest = z.output<typeof CreateErasureRequest>;

export const CreatedErasure = object({
  tillCount: field.count("Number of tills whose personal data is erased"),
  orderIdsWithoutTill: boundedArray(z.guid(), maxErasedOrders).meta({
    description:
      "Listed `orderIds` that no till of the location contains. Check them for typing errors. If such an order is open, or its till has no report yet, its personal data is erased, too. Orders whose data was erased earlier are not listed here. Empty with `before`",
    example: [],
  }),
}).meta({
  id: "CreatedErasure",
  description: "An erasure that was requested",
  example: { tillCount: 1, orderIdsWithoutTill: [] },
});
