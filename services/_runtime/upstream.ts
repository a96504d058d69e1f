import type { ServiceName } from "@pragma/contracts/service-names";

/** A service as others reach it: a direct call when it runs in this process, an HTTP hop when it does not. */
export type Upstream = (request: Request) => Promise<Response>;

/** The services that can be asked, by name. Those that run in this process come in as they start. */
export interface Upstreams {
  to(service: ServiceName): Upstream;
}
