import {
  getAllowedCallersOfService,
  type InternalCallerName,
  type ServiceName,
  serviceNames,
} from "@pragma/contracts/service-names";
import { z } from "zod";
import type { EnvironmentVariables } from "./environment-variables.ts";
import { ConfigError, readConfigFromEnvironment, secretKeysEnvSchema } from "./runtime-config.ts";

/** A secret that one caller shares with one service. The caller signs its requests to the service with this key. */
export type InternalSigningKey = z.output<typeof secretKeysEnvSchema>[number];

/** Returns the name of the variable for the keys of a caller and a service, such as `GATEWAY_TO_TILL_INGEST_KEYS`. */
export function buildInternalKeysVariableName(caller: InternalCallerName, service: ServiceName): string {
  return `${caller}_to_${service}_keys`.toUpperCase().replaceAll("-", "_");
}

export const internalKeysVariableNames = serviceNames.flatMap((service) =>
  getAllowedCallersOfService(service).map((caller) => buildInternalKeysVariableName(caller, service)),
);

/** Returns the keys that a caller and a service share. The first one signs; all are accepted. @throws `ConfigError` */
export function readInternalSigningKeys(
  environment: EnvironmentVariables,
  caller: InternalCallerName,
  service: ServiceName,
): InternalSigningKey[] {
  const variable = buildInternalKeysVariableName(caller, service);
  const keys = readConfigFromEnvironment(z.object({ [variable]: secretKeysEnvSchema.optional() }), environment)[
    variable
  ];
  if (keys) return keys;
  throw new ConfigError([
    `${variable}: is required because ${caller} and ${service} run in different processes; set the same name:secret in both`,
  ]);
}
