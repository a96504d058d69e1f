import type { AnyServiceDefinition } from "../service/define-service.ts";
import { createServiceRegistry } from "../service-calls/service-registry.ts";
import { createFakeLocationLookupService, type FakeLocationLookupService } from "./fake-location-lookup-service.ts";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "./test-environment.ts";
import { startTestService, type TestService } from "./test-service.ts";

/** A service in its own environment, with a fake accounts service. Tests add locations to the fake. */
export interface TestServiceWithFakeAccounts extends TestService {
  environment: IsolatedTestEnvironment;
  accounts: FakeLocationLookupService;
  /** Stops the service and removes its environment. */
  remove(): Promise<void>;
}

/** Starts and returns a service that looks up locations in a fake accounts service. */
export async function startTestServiceWithFakeAccounts(
  definition: AnyServiceDefinition,
  variables: Record<string, string> = {},
): Promise<TestServiceWithFakeAccounts> {
  const environment = await createMigratedTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = createFakeLocationLookupService();
  registry.registerLocalService("accounts", accounts.fetch);
  const service = await startTestService(definition, environment, registry);
  return {
    ...service,
    environment,
    accounts,
    async remove() {
      await service.stop();
      await environment.remove();
    },
  };
}
