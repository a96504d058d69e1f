import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiErrorDefinitions, apiErrorsDocumentationPageUrl } from "@pragma/contracts/errors";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

const docsFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
  "docs",
);
const page = readFileSync(join(docsFolder, "errors.mdx"), "utf8");
const sections = new Map(
  page.split(/^(?=##+ )/m).map((section) => [/^### (\w+) \{#\1\}$/m.exec(section)?.[1] ?? "", section] as const),
);

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

  it("is on the page of the type URLs", () => {
    expect(new URL(apiErrorsDocumentationPageUrl).pathname).toBe("/docs/errors");
  });
});
