import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const checkout = join(findEnclosingPackageFolder(import.meta.url), "..");
const readText = (path: string) => readFile(join(checkout, path), "utf8");
const readJson = async (path: string) => JSON.parse(await readText(path));

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const { version, workspaces } = (await readJson("package.json")) as { version: string; workspaces: string[] };

/** Returns the versions of a manifest, and of the packages of the repository on which it depends. */
const listVersions = ({ version, dependencies, devDependencies }: Manifest) => [
  version,
  ...Object.entries({ ...dependencies, ...devDependencies }).flatMap(([name, range]) =>
    name.startsWith("@pragma/") ? range : [],
  ),
];

// `npm run release` writes all of them.
describe("the version of the release", () => {
  it("is the newest in the changelog, whose versions descend", async () => {
    const headings = [...(await readText("CHANGELOG.md")).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? "");
    const releases = headings.filter((heading, index) => !(index === 0 && heading === "Unreleased"));
    for (const release of releases) expect(release).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/);
    const versions = releases.map((release) => release.split(" ")[0] ?? "");
    expect(versions[0]).toBe(version);
    expect(versions).toEqual(versions.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true })));
  });

  it("is the version of all packages", async () => {
    const ownWorkspaces = workspaces.filter((folder) => !folder.startsWith("vendor/"));
    const installations = { "": ["", ...ownWorkspaces], "docs-portal": [""] };
    for (const [installation, folders] of Object.entries(installations)) {
      const { version: locked, packages } = await readJson(join(installation, "package-lock.json"));
      expect(locked).toBe(version);
      for (const folder of folders) {
        const manifest = await readJson(join(installation, folder, "package.json"));
        const versions = [...listVersions(packages[folder]), ...listVersions(manifest)];
        expect({ folder, versions: [...new Set(versions)] }).toEqual({ folder, versions: [version] });
      }
    }
  });

  it.each(["openapi.json", "openapi.full.json", "asyncapi.json"])("is the version of contracts/%s", async (name) => {
    expect((await readJson(join("contracts", name))).info.version).toBe(version);
  });

  it("is the example of the health check, and the version of the Helm chart and of its images", async () => {
    expect((await readJson("docs-portal/examples/health.json")).reply.body.version).toBe(version);
    expect(parse(await readText("deploy/kubernetes/pragma/Chart.yaml"))).toMatchObject({
      version,
      appVersion: version,
    });
    expect(await readText("deploy/kubernetes/README.md")).toContain(`pragma-api:${version} `);
  });
});
