import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);
const diagramSourcesFolder = join(portalFolder, "diagrams");
const diagramsFolder = join(portalFolder, "static", "diagrams");
const docs = join(portalFolder, "docs");

const names = readdirSync(diagramSourcesFolder)
  .filter((file) => file.endsWith(".mmd"))
  .map((file) => basename(file, ".mmd"));

describe("the diagrams of the documentation", () => {
  it.each(names)(
    "include %s in both color modes, drawn from its current source and theme (to fix: npm run diagrams)",
    (name) => {
      const hash = createHash("sha256")
        .update(readFileSync(join(diagramSourcesFolder, `${name}.mmd`)))
        .update(readFileSync(join(portalFolder, "diagram-themes.mjs")))
        .digest("hex");
      for (const drawing of listDrawings(name))
        expect(readFileSync(join(diagramsFolder, drawing), "utf8"), drawing).toContain(`Drawn from ${hash} `);
    },
  );

  it("are all shown on a page, and no drawing is left without a source", () => {
    const pages = readdirSync(docs).filter((file) => file.endsWith(".mdx"));
    const shown = pages.flatMap((file) =>
      [...readFileSync(join(docs, file), "utf8").matchAll(/<Diagram name="([^"]+)"/g)].map(([, name]) => name),
    );
    expect(shown.sort()).toEqual([...names].sort());
    expect(readdirSync(diagramsFolder).sort()).toEqual(names.flatMap(listDrawings).sort());
  });
});

/** Returns the file names of the drawings of a diagram: for wide and narrow windows, in both color modes. */
function listDrawings(name: string): string[] {
  return [name, `${name}.narrow`].flatMap((drawing) => [`${drawing}.dark.svg`, `${drawing}.light.svg`]);
}
