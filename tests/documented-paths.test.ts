import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { expect, it } from "vitest";

const root = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client")), "..");
const document = JSON.parse(readFileSync(join(root, "contracts", "openapi.full.json"), "utf8")) as { paths: object };
/** The paths of the document, with a pattern for each of their parameters. */
const patterns = Object.keys(document.paths).map(
  (path) => new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
);

const portal = join(root, "docs-portal");
const files = [
  ...["README.md", "docs/operations.md", "docs/architecture.md"].map((name) => join(root, name)),
  ...["docs", "snippets", "examples"].flatMap((folder) =>
    readdirSync(join(portal, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(mdx?|mts|ts|py|php|sh|json)$/.test(name))
      .map((name) => join(portal, folder, name)),
  ),
];

/** Yields the paths of requests in a text. Other paths that begin like these belong to other servers or formats. */
function* listRequestPaths(text: string): Generator<string> {
  for (const [, path = ""] of text.matchAll(/(?<![\w.])(\/v[12]\/[\w{}<>$:.[\]'/-]+)/g))
    yield path.replace(/[.:'\]]+$/, "");
}

it("the paths in the guides are those of the OpenAPI document", () => {
  const unknown = files.flatMap((file) =>
    [...listRequestPaths(readFileSync(file, "utf8"))]
      // Programs put the type of a change into a path.
      .filter((path) => !/\}s\//.test(path))
      .filter((path) => !patterns.some((pattern) => pattern.test(path)))
      .map((path) => `${file.slice(root.length + 1)}: ${path}`),
  );
  expect(unknown).toEqual([]);
});
