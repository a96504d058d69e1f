import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { CreateBulkExportRequest } from "./bulk-export.ts";
import { MetricsQuery } from "./metrics-query.ts";
import {
  checkSinceIsNotAfterUntil,
  dayOrInstantQueryParameter,
  dayQueryParameter,
  integerQueryParameter,
} from "./pagination.ts";

const days = z
  .object({ since: dayQueryParameter.optional(), until: dayQueryParameter.optional() })
  .check(checkSinceIsNotAfterUntil);
const bounds = z
  .object({ since: dayOrInstantQueryParameter(""), until: dayOrInstantQueryParameter("") })
  .check(checkSinceIsNotAfterUntil);

it.each([
  ["2026-05-30", "2026-05-29", false],
  ["2026-05-29", "2026-05-29", true],
  ["2026-02-29", "2026-02-28", true],
  [undefined, "2026-05-29", true],
])("a range of days from %s to %s", (since, until, isValid) => {
  for (const schema of [days, bounds]) expect(schema.safeParse({ since, until }).success).toBe(isValid);
});

it.each([
  ["2026-05-29T12:00:00Z", "2026-05-29T13:00:00+02:00", false],
  ["2026-05-29T12:00:00Z", "2026-05-29T14:00:00+02:00", true],
  ["2026-05-31T12:00:01Z", "2026-05-30", false],
  ["2026-05-31T11:00:00Z", "2026-05-30", true],
  ["2026-05-30", "2026-05-29T09:59:59Z", false],
  ["2026-05-30", "2026-05-29T10:00:00Z", true],
])("a range from %s to %s is rejected only if it is empty in every time zone", (since, until, isValid) => {
  const { success, error } = bounds.safeParse({ since, until });
  expect(success).toBe(isValid);
  if (error) expect(error.issues).toMatchObject([{ path: ["since"], params: { code: "too_big" } }]);
});

const isDay = (text: string) => dayQueryParameter.safeParse(text).success;
const dayText = fc.oneof(
  fc.constantFrom("yesterday", "today", "", "18", "2026-05-29", "2026-5-29", "2026-02-30", "29.05.2026", "1899-12-31"),
  fc.string({ maxLength: 12 }),
  fc
    .date({ min: new Date("1900-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
);

it("compares since and until only if both are days", () => {
  const schemas = { days, metrics: MetricsQuery, exports: CreateBulkExportRequest };
  const rest = { measures: "sales", data: "reports", format: "csv" };
  fc.assert(
    fc.property(dayText, dayText, (since, until) => {
      const invalidNames = Object.entries({ since, until }).flatMap(([name, text]) => (isDay(text) ? [] : [name]));
      if (invalidNames.length === 0) return;
      for (const schema of Object.values(schemas)) {
        const { error } = schema.safeParse({ ...rest, since, until });
        expect(error?.issues.map(({ path }) => path.join("."))).toEqual(invalidNames);
      }
    }),
    {
      examples: [
        ["yesterday", "today"],
        ["yesterday", "2026-05-29"],
        ["18", "2026-05-29"],
        ["2026-05-29", "today"],
      ],
    },
  );
});

it("an integer with any number of digits is compared with its limits", () => {
  const parameter = integerQueryParameter(z.int().min(1).max(100));
  for (const digits of [3, 16, 17, 400]) {
    const { error } = parameter.safeParse("9".repeat(digits));
    expect(error?.issues.at(-1)).toMatchObject({ code: "too_big", maximum: 100 });
    expect(parameter.safeParse(`-${"9".repeat(digits)}`).error?.issues.at(-1)).toMatchObject({ code: "too_small" });
  }
  for (const text of ["", "1e3", "1.5", "+1", " 1", "NaN", "Infinity", "0x10"])
    expect(parameter.safeParse(text).error?.issues.at(-1)?.message).toBe("Must be an integer");
});
