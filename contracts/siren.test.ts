import { expect, it } from "vitest";
import { buildCompanyNumbers, buildSandboxCompanyNumbers, findSirenFault, findSiretFault, readSiren } from "./siren.ts";

it.each([
  ["732829320", undefined],
  ["732829321", "has a wrong check digit: one of its digits is wrong"],
  ["73282932", "must have nine digits"],
  ["73282932A", "must have nine digits"],
  ["", "must have nine digits"],
  ["000000000", "has only zeros"],
])("states what is wrong with the SIREN %j", (siren, fault) => expect(findSirenFault(siren)).toBe(fault));

it.each([
  ["73282932000074", undefined],
  ["73282932000075", "has a wrong check digit: one of its digits is wrong"],
  ["73282932100074", "begins with a SIREN that has a wrong check digit: one of its digits is wrong"],
  ["732829320", "must have 14 digits"],
  ["00000000000000", "begins with a SIREN that has only zeros"],
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

it("builds company numbers without a fault", () => {
  const numbers = buildCompanyNumbers(96_266);
  const { siren, siretCode } = numbers;
  expect([findSirenFault(siren), findSiretFault(siretCode), readSiren(siretCode)]).toEqual([
    undefined,
    undefined,
    siren,
  ]);
  expect(numbers).toEqual({ siren: "000962662", siretCode: "00096266200011", tvaCode: "FR17000962662" });
  expect(buildSandboxCompanyNumbers("0001780a-44f5-4df2-a1cb-3e8f2c0a9d11")).toEqual(numbers);
});
