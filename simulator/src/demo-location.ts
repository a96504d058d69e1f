import { pageOf } from "@pragma/contracts/pagination";
import { defaultScopes } from "@pragma/contracts/scopes";
import { z } from "zod";
import { type DemoAccess, readDemoFile, writeDemoFile } from "./demo-file.ts";
import type { PublicApi } from "./public-api.ts";

/**
 * The demo location with a key to it: what the file remembers, if the key still opens the location, else a location
 * found or made, with a new key that the file then remembers. `admin` needs every scope.
 */
export async function openDemoLocation(admin: PublicApi, file: string): Promise<DemoAccess> {
  const remembered = await readDemoFile(file);
  if (remembered && (await isOpen(admin, remembered))) return remembered;
  const locationId = await findOrImportLocation(admin);
  await allowConsumer(admin, await findOrCreateConsumer(admin));
  const { apiKey } = await admin.call({
    method: "POST",
    path: "/v1/auth/keys/",
    body: { locationId, consumerName },
    reply: z.object({ apiKey: z.string() }),
  });
  const access = { locationId, apiKey };
  await writeDemoFile(file, access);
  return access;
}

/** What names the demo location in its backoffice: the same at each start, so that the location is found again. */
const legacyLocation = {
  application: "POPINA",
  organizationId: "pragma-demo",
  agencyId: "pragma-demo",
  legacyId: 990_001,
};

const consumerName = "Pragma demo";

const withId = z.object({ id: z.guid() });

async function isOpen(admin: PublicApi, { locationId, apiKey }: DemoAccess): Promise<boolean> {
  const path = `/v2/reports/?size=1&locationId=${locationId}`;
  const reports = await admin.withKey(apiKey).callUnless([401, 403, 404], { path, reply: pageOf(withId) });
  return reports !== null;
}

async function findOrImportLocation(admin: PublicApi): Promise<string> {
  const find = async () => {
    const { application, legacyId } = legacyLocation;
    const path = `/v1/locations/?app=${application}&legacyId=${legacyId}`;
    const { data } = await admin.call({ path, reply: pageOf(withId) });
    return data[0]?.id;
  };
  const found = await find();
  if (found) return found;
  const made = await admin.callUnless([409], {
    method: "POST",
    path: "/v1/locations/import",
    body: legacyLocation,
    reply: withId,
  });
  const id = made?.id ?? (await find());
  if (!id) throw new Error("The demo location exists and is not listed");
  return id;
}

async function findOrCreateConsumer(admin: PublicApi): Promise<string> {
  const made = await admin.callUnless([409], {
    method: "POST",
    path: "/v1/consumers/",
    body: { name: consumerName },
    reply: withId,
  });
  return made?.id ?? findConsumer(admin);
}

async function findConsumer(admin: PublicApi): Promise<string> {
  const reply = pageOf(withId.extend({ name: z.string() }));
  let next: string | null = "/v1/consumers/?size=100";
  while (next) {
    const page: z.infer<typeof reply> = await admin.call({ path: next, reply });
    const found = page.data.find(({ name }) => name === consumerName);
    if (found) return found.id;
    next = page.nextPageToken && `/v1/consumers/?size=100&pageToken=${encodeURIComponent(page.nextPageToken)}`;
  }
  throw new Error(`The consumer ${consumerName} exists and is not listed`);
}

async function allowConsumer(admin: PublicApi, id: string): Promise<void> {
  const scopes = [...defaultScopes, "tills:read", "tills:write"];
  await admin.call({ method: "PATCH", path: `/v1/consumers/${id}`, body: { scopes }, reply: z.unknown() });
}
