import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiErrorDefinitions, apiErrorsDocumentationPageUrl, requestIssueCodes } from "@pragma/contracts/errors";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const portalFolder = join(repositoryFolder, "docs-portal");
const page = readFileSync(join(portalFolder, "docs", "errors.mdx"), "utf8");
const sections = new Map(
  page.split(/^(?=##+ )/m).map((section) => [/^### (\w+) \{#\1\}$/m.exec(section)?.[1] ?? "", section] as const),
);

interface OperationErrors {
  description: string;
  security: unknown[];
  responses: Record<string, { description: string }>;
}
const document: { paths: Record<string, Record<string, OperationErrors>> } = JSON.parse(
  readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"),
);
const partnerOperations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** Returns the cells of the first table in the section with the anchor, without the header of the table. */
function readFirstTable(anchor: string): string[][] {
  const [, section = ""] = page.split(`{#${anchor}}`);
  const [, rows = ""] = /^\|[-|]+\|\n((?:\|.*\n)+)/m.exec(section) ?? [];
  return rows
    .trimEnd()
    .split("\n")
    .map((row) => row.slice(2, -2).split(" | "));
}

function readCodes(text: string, pattern = /`(\w+)`/g): string[] {
  return [...text.matchAll(pattern)].map(([, code = ""]) => code);
}

describe("the documentation of errors", () => {
  it.each(Object.entries(apiErrorDefinitions))(
    "has a section for %s at the URL of its type",
    (code, { status, title }) => {
      const section = sections.get(code) ?? "";
      expect(section).toContain(`**${title}.** `);
      expect(section.split("**").at(-1)?.trim().length, "advice for the reader").toBeGreaterThan(20);
      const group = page
        .slice(0, page.indexOf(section))
        .match(/^## (\d+)/gm)
        ?.at(-1);
      expect(group).toBe(`## ${status}`);
    },
  );

  it("has no sections of other codes", () => {
    expect([...sections.keys()].filter((code) => code !== "")).toEqual(Object.keys(apiErrorDefinitions));
  });

  it("has a row for each type of issue, and no other rows", () => {
    const documented = readFirstTable("issues").flatMap(([codes = ""]) => readCodes(codes));
    expect(documented.toSorted()).toEqual(requestIssueCodes.toSorted());
  });

  it("lists the errors of all operations with an API key as common errors", () => {
    const errorLists = partnerOperations
      .filter(({ security, description }) => security.length > 0 && !description.includes("every API key can use"))
      .map(({ responses }) =>
        Object.values(responses).flatMap(({ description }) => readCodes(description, /^`(\w+)`:/gm)),
      );
    const [first = [], ...others] = errorLists;
    // Pages list `invalid_request`, because its causes depend on the operation.
    const common = first.filter((code) => code !== "invalid_request" && others.every((codes) => codes.includes(code)));
    const rows = Object.entries(apiErrorDefinitions)
      .filter(([code]) => common.includes(code))
      .map(([code, { status, title }]) => [String(status), `[\`${code}\`](#${code})`, title]);
    expect(readFirstTable("common-errors")).toEqual(rows);
  });

  it("is on the page of the type URLs", () => {
    expect(new URL(apiErrorsDocumentationPageUrl).pathname).toBe("/docs/errors");
  });
});
