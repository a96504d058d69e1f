import { packTill } from "@pragma/reporting/documents/packing/pack-till";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { selectServiceDatabase } from "@pragma/runtime/config/service-databases";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { expect } from "vitest";

/** Packs a till as the task of reporting does, which runs only every ten seconds. */
export async function packTestTill(
  { namespace, variables }: Pick<IsolatedTestEnvironment, "namespace" | "variables">,
  tillId: string,
): Promise<void> {
  const config = readConfigFromEnvironment(
    commonServiceConfigSchema,
    selectServiceDatabase({ ...variables, DATABASE_POOL: "2" }, "reporting"),
  );
  const log = createLogger({ name: "test", level: "silent" });
  const db = createDatabasePool(config, { schema: buildServiceSchemaName(namespace, "reporting"), log });
  const objects = createObjectStore(variables.OBJECT_STORE ?? "");
  try {
    const [till] = await db.sql<{ locationId: string }[]>`select location_id from reports where till_id = ${tillId}`;
    const { locationId } = till ?? expect.unreachable(`The till ${tillId} has no report.`);
    await packTill({ db, objects }, { locationId, tillId });
    expect((await db.sql`select from packed_tills where till_id = ${tillId}`).count).toBe(1);
  } finally {
    await objects.close();
    await db.close();
  }
}
