import { type CallerName, callersOf, type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import { ConfigError, type Environment, readConfig, secretKeys } from "./config.ts";

/** A secret that one caller and one service share, and nobody else. */
export interface InternalKey {
  id: string;
  secret: string;
}

/** `GATEWAY_TO_TILL_INGEST_KEYS`: the variable that the gateway and till-ingest both have, and no other part. */
export function internalKeysVariable(caller: CallerName, service: ServiceName): string {
  return `${caller}_to_${service}_keys`.toUpperCase().replaceAll("-", "_");
}

/** Every variable that holds such keys. */
export const internalKeysVariables = serviceNames.flatMap((service) =>
  callersOf(service).map((caller) => internalKeysVariable(caller, service)),
);

/**
 * Returns the keys between a caller and a service: the first signs, all are accepted, so that keys can be rotated.
 *
 * @throws `ConfigError` when they are missing or malformed.
 */
export function readInternalKeys(environment: Environment, caller: CallerName, service: ServiceName): InternalKey[] {
  const variable = internalKeysVariable(caller, service);
  if (!environment[variable]) {
    throw new ConfigError([
      `${variable}: is required, since ${caller} and ${service} run in different processes: name:secret, the same in both`,
    ]);
  }
  return readConfig(z.object({ [variable]: secretKeys }), environment)[variable] as InternalKey[];
}
