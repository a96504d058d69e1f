import type { BusEventData, BusEventType } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import type { ApiScope } from "@pragma/contracts/scopes";
import { installTestOutboxCopyTrigger, readTestOutboxEvents } from "@pragma/runtime/testing/outbox-recorder";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import {
  buildTestPrincipal,
  startTestService,
  type TestRequest,
  type TestService,
} from "@pragma/runtime/testing/test-service";
import accounts from "../service.ts";

/** The accounts service of one test file. `sendJson`, `getJson` and `requestProblem` act as the operator by default. */
export interface AccountsServiceUnderTest extends TestService {
  /** Returns the data of the published events of a type and subject, oldest first. */
  findEvents<Type extends BusEventType>(type: Type, subject: string): Promise<BusEventData<Type>[]>;
  environment: IsolatedTestEnvironment;
  remove(): Promise<void>;
}

/** The principal of the operator, which has the scope admin. */
export const operatorTestPrincipal = buildTestPrincipal({ consumer: "admin", scopes: ["admin"], location: null });

/** A principal with the consumer name of the gateway and all internal scopes, for tests of internal routes. */
export const gatewayConsumerTestPrincipal = buildTestPrincipal({
  consumer: "gateway",
  scopes: ["internal:keys", "internal:locations"],
  location: null,
});

/** Returns a principal of one location with these scopes. */
export function buildTestLocationPrincipal(locationId: string, ...scopes: ApiScope[]): Principal {
  const location = { id: locationId, application: "POPINA" as const, legacyId: null, timeZone: "Europe/Paris" };
  return buildTestPrincipal({ scopes, location });
}

export const testAdminKey = "an-admin-key-for-tests-only";

export async function startAccountsServiceUnderTest(
  variables: Record<string, string> = {},
): Promise<AccountsServiceUnderTest> {
  const environment = await createMigratedTestEnvironment({ PRAGMA_ADMIN_KEY: testAdminKey, ...variables });
  const service = await startTestService(accounts, environment);
  await installTestOutboxCopyTrigger(service.db);
  const asOperator = (request: TestRequest) => ({ principal: operatorTestPrincipal, ...request });
  return {
    ...service,
    environment,
    sendJson: (request, expected) => service.sendJson(asOperator(request), expected),
    getJson: (path, schema, principal = operatorTestPrincipal) => service.getJson(path, schema, principal),
    requestProblem: (request) => service.requestProblem(asOperator(request)),
    async findEvents<Type extends BusEventType>(type: Type, subject: string) {
      const events = await readTestOutboxEvents<Type>(service.db, subject);
      return events.filter((event) => event.type === type).map(({ data }) => data);
    },
    async remove() {
      await service.stop();
      await environment.remove();
    },
  };
}
