import { array, object, z } from "zod";
import { field } from "./fields.ts";

const checkResults = ["passed", "failed", "not_applicable", "not_checked"] as const;

export const EReportCheck = object({
  rule: field.text("Number of the rule in the external specifications, annex 7, such as `G1.53`"),
  description: field.text("What the rule requires"),
  result: z.enum(checkResults).meta({
    description:
      "`failed`: the report cannot be taken. `not_applicable`: the report has no figures to which the rule applies. `not_checked`: only the administration can check this rule.",
    example: "passed",
  }),
  checked: field.count("How many figures were checked"),
  difference: z.int().nullable().meta({
    description: "The largest difference in minor units, for rules about sums; null for others",
    example: 0,
  }),
  findings: array(z.string()).describe("What does not comply, at most the first 20"),
});

export type EReportCheck = z.infer<typeof EReportCheck>;
