import { describe, expect, it } from "vitest";
import { addDays, createFormats } from "./formats.ts";

const paris = createFormats({ timeZone: "Europe/Paris", currency: "EUR", locale: "en-IE" });

describe("amounts", () => {
  it.each([
    ["EUR", 140050, "€1,400.50"],
    ["JPY", 1200, "JP¥1,200"],
    ["TND", 123450, "TND\u00a0123.450"],
    [null, 1400, "14.00"],
  ])("have the decimals of their currency: %s", (currency, amount, shown) => {
    expect(createFormats({ timeZone: "UTC", currency, locale: "en-IE" }).money(amount)).toBe(shown);
  });

  it("show the sign of a difference, but none for zero", () => {
    expect([paris.difference(450), paris.difference(-450), paris.difference(0)]).toEqual(["+€4.50", "-€4.50", "€0.00"]);
  });

  it("are exact up to the largest safe integer", () => {
    expect(paris.money(Number.MAX_SAFE_INTEGER)).toBe("€90,071,992,547,409.91");
  });
});

describe("times", () => {
  it("are those of the location", () => {
    expect(paris.time("2026-01-10T23:30:00Z")).toBe("00:30");
    expect(paris.isoDay(new Date("2026-01-10T23:30:00Z"))).toBe("2026-01-11");
  });

  it("have 24 hours, also where readers are used to 12", () => {
    const formats = createFormats({ timeZone: "Europe/Paris", currency: "EUR", locale: "en-US" });
    expect(formats.time("2026-01-10T20:03:00Z")).toBe("21:03");
    expect(formats.dateTime("2026-01-10T23:05:00Z")).toBe("Jan 11, 2026, 00:05");
    expect(formats.dateTimeWithSeconds("2026-01-10T08:05:07Z")).toBe("Jan 10, 2026, 09:05:07");
    expect(formats.listedDay("2026-01-10")).toBe("Sat, Jan 10, 2026");
    expect(formats.dayRange("2026-01-10", "2026-01-10")).toBe("Sat, Jan 10, 2026");
    expect(formats.dayRange("2026-01-10", "2026-01-12")).toMatch(/^Sat, Jan 10\s–\sMon, Jan 12, 2026$/);
  });

  it("show a business day as this date in every time zone", () => {
    expect(createFormats({ timeZone: "Pacific/Auckland", currency: null, locale: "en-IE" }).day("2026-06-01")).toBe(
      "Mon, 1 Jun",
    );
  });

  it("are counted from now", () => {
    expect(paris.ago("2026-01-10T12:00:00Z", Date.parse("2026-01-10T12:03:10Z"))).toBe("3 min ago");
  });
});

it("adds days across months", () => {
  expect([addDays("2026-03-01", -1), addDays("2026-12-31", 1)]).toEqual(["2026-02-28", "2027-01-01"]);
});
