import accounts from "@pragma/accounts/service";
import catalog from "@pragma/catalog/service";
import type { ServiceName } from "@pragma/contracts/service-names";
import jobs from "@pragma/jobs/service";
import orderLive from "@pragma/order-live/service";
import reporting from "@pragma/reporting/service";
import type { AnyServiceDefinition } from "@pragma/runtime/define-service";
import tillIngest from "@pragma/till-ingest/service";
import webhooks from "@pragma/webhooks/service";

/** Every service, and the port it listens on when it runs by itself. */
export const services: Record<ServiceName, { definition: AnyServiceDefinition; port: number }> = {
  "till-ingest": { definition: tillIngest, port: 4001 },
  "order-live": { definition: orderLive, port: 4002 },
  reporting: { definition: reporting, port: 4003 },
  catalog: { definition: catalog, port: 4004 },
  accounts: { definition: accounts, port: 4005 },
  webhooks: { definition: webhooks, port: 4006 },
  jobs: { definition: jobs, port: 4007 },
};
