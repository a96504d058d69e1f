import { z } from "zod";
import type { KubernetesManifest } from "./manifest.ts";

/** An object of Kubernetes itself, which the schema of a `StatefulSet` validates. */
const kubernetesObject = z.record(z.string(), z.unknown());
const secretKey = z.strictObject({ name: z.string(), key: z.string() });

const commonFields = {
  clusterSize: z.int().min(1),
  serviceAccountName: z.string(),
  terminationGracePeriodSeconds: z.int().optional(),
  podSecurityContext: kubernetesObject,
  securityContext: kubernetesObject,
  initContainer: z.strictObject({ enabled: z.boolean(), image: z.string(), securityContext: kubernetesObject }),
  kubernetesConfig: z.strictObject({
    image: z.string(),
    imagePullPolicy: z.string(),
    redisSecret: secretKey,
    resources: kubernetesObject,
  }),
  // The operator mounts the secret at /tls.
  TLS: z.strictObject({ ca: z.string(), cert: z.string(), key: z.string(), secret: kubernetesObject }),
  pdb: z.strictObject({ enabled: z.boolean(), maxUnavailable: z.int() }),
  affinity: kubernetesObject,
};

/**
 * The fields of `redis.redis.opstreelabs.in/v1beta2` that the manifests use, by kind. No package contains the schemas of
 * this operator. Unknown fields are errors, because the API server would silently drop a misspelt field.
 */
const specSchemas = {
  RedisReplication: z.strictObject({
    ...commonFields,
    redisConfig: z.strictObject({ additionalRedisConfig: z.string() }),
    acl: z.strictObject({ secret: kubernetesObject }),
    storage: z.strictObject({ keepAfterDelete: z.boolean(), volumeClaimTemplate: kubernetesObject }),
    sidecars: z.array(kubernetesObject),
  }),
  RedisSentinel: z.strictObject({
    ...commonFields,
    // The operator expects numbers as strings.
    redisSentinelConfig: z.strictObject({
      redisReplicationName: z.string(),
      redisReplicationPassword: z.strictObject({ secretKeyRef: secretKey }),
      masterGroupName: z.string(),
      quorum: z.string().regex(/^\d+$/),
      downAfterMilliseconds: z.string().regex(/^\d+$/),
      failoverTimeout: z.string().regex(/^\d+$/),
      additionalSentinelConfig: z.string(),
    }),
  }),
};

/**
 * Validates an object of the Redis operator, and returns the `StatefulSet` that the operator creates from it, with the
 * fields that the manifests set.
 *
 * @throws `ZodError` if a field of the object is unknown or has the wrong type.
 */
export function toStatefulSetOfRedisOperator({ kind, metadata, spec }: KubernetesManifest): KubernetesManifest {
  const { sidecars = [], storage, acl, ...settings } = parseSpec(kind, spec);
  const { image, imagePullPolicy, resources } = settings.kubernetesConfig;
  const { securityContext, initContainer } = settings;
  const labels = metadata.labels ?? {};
  const volumes = [
    { name: "tls-certs", secret: settings.TLS.secret },
    ...(acl ? [{ name: "acl-secret", secret: acl.secret }] : []),
  ];
  const pod = {
    serviceAccountName: settings.serviceAccountName,
    terminationGracePeriodSeconds: settings.terminationGracePeriodSeconds,
    securityContext: settings.podSecurityContext,
    affinity: settings.affinity,
    initContainers: [{ name: "init-config", image, resources, securityContext: initContainer.securityContext }],
    containers: [{ name: "redis", image, imagePullPolicy, resources, securityContext }, ...sidecars],
    volumes,
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata,
    spec: {
      replicas: settings.clusterSize,
      serviceName: `${metadata.name}-headless`,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod },
      ...(storage && { volumeClaimTemplates: [{ metadata: { name: metadata.name }, ...storage.volumeClaimTemplate }] }),
    },
  };
}

type Spec = z.infer<typeof specSchemas.RedisSentinel> & Partial<z.infer<typeof specSchemas.RedisReplication>>;

function parseSpec(kind: string, spec: unknown): Spec {
  const schema = specSchemas[kind as keyof typeof specSchemas] as z.ZodType | undefined;
  if (!schema) throw new Error(`The Redis operator has no kind ${kind} that the manifests use.`);
  return schema.parse(spec) as Spec;
}
