import { expect, it } from "vitest";
import { findSirenFault, findSiretFault, readSiren } from "./siren.ts";

it.each([
  ["732829320", undefined],
  ["732829321", "has a wrong check digit: one of its digits is wrong"],
  ["73282932", "must have nine digits"],
  ["73282932A", "must have nine digits"],
  ["", "must have nine digits"],
])("states what is wrong with the SIREN %j", (siren, fault) => expect(findSirenFault(siren)).toBe(fault));

it.each([
  ["73282932000074", undefined],
  ["73282932000075", "has a wrong check digit: one of its digits is wrong"],
  ["73282932100074", "begins with a SIREN that has a wrong check digit: one of its digits is wrong"],
  ["732829320", "must have 14 digits"],
  // La Poste: the check digit of Luhn, or digits that add up to a multiple of 5.
  ["35600000000048", undefined],
  ["35600000000001", undefined],
  ["35600000000002", "has a wrong check digit: one of its digits is wrong"],
])("states what is wrong with the SIRET %j", (siret, fault) => expect(findSiretFault(siret)).toBe(fault));

it("reads the SIREN of a SIRET with spaces, and none of an invalid one", () => {
  expect(readSiren("732 829 320 00074")).toBe("732829320");
  expect(readSiren("732 829 320 00075")).toBeNull();
  expect(readSiren("")).toBeNull();
});
