import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, it, test } from "vitest";
import { createDayFormatter, createHourFormatter, dayMs } from "./date-time.ts";
import { computeStartOfDay, isAcceptedTimeZone, TimeZone } from "./time-zone.ts";

/** All names that `Intl` accepts: canonical names, and others from tzdata and from ICU. */
const intlZones = [
  ...Intl.supportedValuesOf("timeZone"),
  ...["UTC", "GMT", "Etc/GMT+12", "Etc/GMT-14", "CET", "EET", "MET", "WET", "EST", "MST", "HST", "EST5EDT", "PST8PDT"],
  ...["Europe/Kyiv", "Asia/Kolkata", "US/Pacific", "PRC", "ROK", "W-SU", "GB-Eire", "NZ-CHAT", "America/Ciudad_Juarez"],
];
const abbreviations =
  "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split(" ");

describe("isAcceptedTimeZone", () => {
  it.each(intlZones)("accepts %s", (name) => expect(isAcceptedTimeZone(name)).toBe(true));

  it.each([
    ...[...abbreviations, "ist", "SystemV/EST5", "SystemV/EST5EDT", "systemv/yst9", "US/Pacific-New"],
    "Canada/East-Saskatchewan",
    ...[
      "+01:00",
      "GMT+2",
      "Z",
      "Factory",
      "localtime",
      "posix/Europe/Paris",
      "Europe/Pariss",
      "Etc/Unknown",
      "",
      " UTC",
    ],
  ])("rejects %j", (name) => {
    const { error } = TimeZone.safeParse(name);
    expect(error?.issues[0]?.message).toContain("Must be an IANA time zone name, such as Europe/Paris");
  });

  it.each([
    ["europe/paris", "Europe/Paris"],
    ["US/EASTERN", "US/Eastern"],
    ["asia/calcutta", "Asia/Calcutta"],
    ["etc/gmt+5", "Etc/GMT+5"],
  ])("spells %s as IANA does", (name, expected) => expect(TimeZone.parse(name)).toBe(expected));

  it("accepts only names with which everything can compute", () => {
    const letter = fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const anyName = fc.oneof(
      fc.constantFrom(...intlZones, ...abbreviations),
      fc.array(letter, { minLength: 2, maxLength: 4 }).map((letters) => letters.join("")),
      fc.string({ maxLength: 64 }),
    );
    fc.assert(
      fc.property(anyName, (name) => {
        if (!isAcceptedTimeZone(name)) return;
        const noon = "2026-07-01T12:00:00.000Z";
        expect(createDayFormatter(name)(noon)).toMatch(/^2026-0[67]-\d\d$/);
        expect(createHourFormatter(name)(noon)).toBeLessThan(24);
        expect(Temporal.Instant.from(noon).toZonedDateTimeISO(name).hour).toBe(createHourFormatter(name)(noon));
        expect(computeStartOfDay("2026-07-01", name)).toMatch(/^2026-0[67]-/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("computeStartOfDay", () => {
  test.each([
    ["2026-05-29", "Europe/Paris", "2026-05-28T22:00:00.000Z"],
    ["2026-07-14", "CET", "2026-07-13T22:00:00.000Z"],
    ["2026-07-14", "EET", "2026-07-13T21:00:00.000Z"],
    ["2026-07-14", "MET", "2026-07-13T22:00:00.000Z"],
    ["2026-07-14", "WET", "2026-07-13T23:00:00.000Z"],
  ])("returns when %s begins in %s", (day, timeZone, instant) => {
    expect(computeStartOfDay(day, timeZone)).toBe(instant);
  });

  it("returns the first midnight of a day whose first hour occurs twice", () => {
    expect(computeStartOfDay("2025-11-02", "America/Havana")).toBe("2025-11-02T04:00:00.000Z");
  });

  it("returns the first instant of a day without midnight", () => {
    expect(computeStartOfDay("2025-04-25", "Africa/Cairo")).toBe("2025-04-24T22:00:00.000Z");
  });

  it("returns instants that PostgreSQL accepts", () => {
    expect(computeStartOfDay("0001-01-01", "Asia/Tokyo")).toBe("0001-01-01T00:00:00.000Z");
    expect(computeStartOfDay("9999-12-31", "America/New_York", 1)).toBe("9999-12-31T23:59:59.999Z");
  });

  it("contains exactly the instants that are formatted as this day, in every time zone", () => {
    const instants = fc.date({
      ...{ min: new Date("2020-01-01"), max: new Date("2030-01-01"), noInvalidDate: true },
    });
    fc.assert(
      fc.property(fc.constantFrom(...intlZones), instants, (timeZone, instant) => {
        const time = instant.toISOString();
        const day = createDayFormatter(timeZone)(time);
        const begin = computeStartOfDay(day, timeZone);
        const end = computeStartOfDay(day, timeZone, 1);
        expect(begin <= time && time < end, `${time} in ${timeZone}`).toBe(true);
        expect(Date.parse(end) - Date.parse(begin)).toBeLessThanOrEqual(dayMs + 2 * 3_600_000);
        expect(createDayFormatter(timeZone)(begin)).toBe(day);
      }),
      { numRuns: 3_000 },
    );
  });
});
