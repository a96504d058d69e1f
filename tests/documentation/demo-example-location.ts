import { createAdminApiClient } from "@pragma/client/api-client";
import type { ApiScope } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import { demoRestaurantSeed, generateDemoTill, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
import { importDemoLocation } from "@pragma/simulator/import-and-configure-location";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import { createExampleRecorder, type DocumentationExampleRecorder } from "./example-recorder.ts";

/** The location in the guide "Ask your data" and on the home page: the demo restaurant as it is on June 1, 2026. */
export interface DemoExampleLocation {
  recorder: DocumentationExampleRecorder;
}

/** The time at which the demo of an installation would have these days: the 30 days before, in both years. */
const demoTimes = ["2026-06-01T10:00:00.000Z", "2025-06-01T10:00:00.000Z"];
/** The tills of a demo depend on the id of its location, which is different in each installation. */
const tillSeedLocationId = "5d1f9a52-0c3e-4a78-9b60-2f7e8c41d3a6";
const consumerName = "Owner";
const scopes: ApiScope[] = ["reports:read", "locations:read", "tills:write"];
const maxConcurrentPushes = 4;

/** Creates the location with the tills that the demo pushes, and waits for their reports. */
export async function createDemoExampleLocation(product: PragmaUnderTest): Promise<DemoExampleLocation> {
  const admin = createAdminApiClient({ baseUrl: product.url, apiKey: product.adminKey });
  const locationId = await importDemoLocation(admin, {
    restaurant: generateRestaurant(demoRestaurantSeed),
    owner: "3",
    legacyId: 43,
  });
  const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id: consumer.id } }, body: { scopes } });
  const { data: created } = await admin.POST("/v1/auth/keys", { body: { locationId, consumerName } });
  const recorder = createExampleRecorder(product.url, () => created.apiKey);

  const days = demoTimes.flatMap((time) => listDemoDaysWithTillIds(tillSeedLocationId, new Date(time)));
  const remaining = [...days];
  const pushRemaining = async () => {
    for (let day = remaining.pop(); day; day = remaining.pop()) {
      const body = generateDemoTill(tillSeedLocationId, day);
      recorder.keepIds(body);
      const { response } = await recorder.sendRequest({ method: "POST", path: "/v2/tills", body });
      if (response.status !== 201) throw new Error(`The push of a till returned ${response.status}.`);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentPushes }, pushRemaining));
  await eventually(
    "all reports",
    async () => (await recorder.sendRequest({ path: "/v2/reports?size=1" })).body.meta.totalCount === days.length,
    { timeoutSeconds: 60 },
  );
  return { recorder };
}
