import { ApiError } from "@pragma/contracts/errors";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import { type Environment, readConfig } from "./config.ts";
import type { Upstream, Upstreams } from "./upstream.ts";

/** `till-ingest` is reached at TILL_INGEST_URL. */
const variableOf = (service: ServiceName) => `${service.toUpperCase().replaceAll("-", "_")}_URL`;

/** Where each service is reached over HTTP, for those that run in another process. */
const upstreamUrls = z.object(
  Object.fromEntries(serviceNames.map((service) => [variableOf(service), z.url({ protocol: /^https?$/ }).optional()])),
);

/** The services of this process and, by their URLs, those of others. */
export interface UpstreamRegistry extends Upstreams {
  /** From now on this service is asked directly. */
  add(service: ServiceName, upstream: Upstream): void;
  /** The URL of a service that is reached over HTTP; undefined when it is asked directly. */
  urlOf(service: ServiceName): string | undefined;
}

export function createUpstreams(environment: Environment): UpstreamRegistry {
  const urls = readConfig(upstreamUrls, environment);
  const direct = new Map<ServiceName, Upstream>();
  return {
    add: (service, upstream) => direct.set(service, upstream),
    urlOf: (service) => (direct.has(service) ? undefined : urls[variableOf(service)]),
    to(service) {
      return async (request) => {
        const here = direct.get(service);
        if (here) return here(request);
        const base = urls[variableOf(service)];
        if (!base)
          throw away(
            service,
            new Error(`${variableOf(service)} is not set and ${service} does not run in this process.`),
          );
        const { pathname, search } = new URL(request.url);
        try {
          return await fetch(new Request(new URL(pathname + search, base), request), { redirect: "manual" });
        } catch (cause) {
          throw away(service, cause);
        }
      };
    },
  };
}

function away(service: ServiceName, cause: unknown): ApiError {
  return new ApiError("service_unavailable", {
    detail: `The ${service} service cannot be reached. Nothing was done; try again in a moment.`,
    headers: { "retry-after": "2" },
    cause,
  });
}
