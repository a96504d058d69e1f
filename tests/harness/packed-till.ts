import { selectServiceDatabase } from "@pragma/runtime/config/service-databases";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";

/**
 * Waits until the running product has packed a till of a day before `HOT_DAYS`. Changes the time at which its report was
 * stored, because tills that changed in the last 24 hours are not packed.
 */
export async function waitUntilTestTillIsPacked(
  { namespace, variables }: Pick<IsolatedTestEnvironment, "namespace" | "variables">,
  tillId: string,
): Promise<void> {
  const { DATABASE_URL = "" } = selectServiceDatabase(variables, "reporting");
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
  const schema = sql(buildServiceSchemaName(namespace, "reporting"));
  try {
    await sql`update ${schema}.reports set updated_at = now() - interval '2 days' where till_id = ${tillId}`;
    await eventually(
      "the till to be packed",
      async () => (await sql`select from ${schema}.packed_tills where till_id = ${tillId}`).count === 1,
      { timeoutSeconds: 30 },
    );
  } finally {
    await sql.end();
  }
}
