import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";

/** Changes the tills of a location as if they had been pushed a day earlier, because `--before` takes no later day than today. */
export async function backdateTestTills(
  { namespace, variables }: Pick<IsolatedTestEnvironment, "namespace" | "variables">,
  locationId: string,
): Promise<void> {
  const sql = postgres(variables.DATABASE_URL ?? "", { max: 1 });
  await sql`
    update ${sql(buildServiceSchemaName(namespace, "reporting"))}.tills set pushed_at = pushed_at - interval '1 day'
    where location_id = ${locationId}`;
  await sql.end();
}
