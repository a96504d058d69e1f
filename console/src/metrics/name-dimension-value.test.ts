import { expect, it } from "vitest";
import { createFormats } from "../format/formats.ts";
import { type DimensionName, nameDimensionValue } from "./name-dimension-value.ts";

const formats = createFormats({ timeZone: "Europe/Paris", currency: "EUR", locale: "en-IE" });
type Values = Parameters<typeof nameDimensionValue>[1];

it.each<[DimensionName, Values, string]>([
  ["hour", { hour: 9 }, "09:00"],
  ["taxRate", { taxRate: 550 }, "5.5%"],
  ["taxRate", { taxRate: null }, "None"],
  ["serviceType", { serviceType: "eatin" }, "In the restaurant"],
  ["channel", { channel: "unknown" }, "Unknown"],
  ["weekday", { weekday: "monday" }, "Monday"],
  ["week", { week: "2026-W02" }, "Week 2 of 2026"],
  ["month", { month: "2026-05" }, "May 2026"],
  ["room", { room: { name: "Terrasse", type: "room" } }, "Terrasse"],
  ["room", { room: { name: null, type: "room" } }, "Dining room"],
  ["paymentMethod", { paymentMethod: { name: "En compte", mode: "debt" } }, "En compte (Customer account)"],
  ["paymentMethod", { paymentMethod: { name: null, mode: "uberEats" } }, "Uber Eats"],
  ["discount", { discount: { id: null, name: "Anniversaire", gifted: true } }, "Anniversaire (on the house)"],
  ["cancellationReason", { cancellationReason: { name: "", afterFinalization: true } }, "No reason (after the bill)"],
  ["product", { product: { id: "p1", name: null } }, "p1"],
])("names a value of %s: %j", (dimension, values, name) => {
  expect(nameDimensionValue(dimension, values, formats)).toBe(name);
});
