import type { BusEventType } from "@pragma/contracts/events";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { tillDryRunTopic } from "@pragma/contracts/till-dry-run";
import { otherTimeZoneTillsTopic } from "@pragma/contracts/till-time-zones";
import { usageBatchTopic } from "@pragma/contracts/usage";
import { buildRequestSubject } from "@pragma/runtime/messaging/bus-requests";
import { buildNatsConsumerName } from "@pragma/runtime/messaging/event-consumer";
import {
  buildEventStreamNames,
  buildEventSubjectFilter,
  buildSubjectPrefixes,
  eventStreamKinds,
  getEventStreamKind,
} from "@pragma/runtime/messaging/event-streams";
import { buildRollbackNoticeSubject } from "@pragma/runtime/messaging/stream-rollback-notice";
import { loadServiceDefinition } from "../definitions.ts";

const eventPublishers: Record<BusEventType, readonly ServiceName[]> = {
  "till.pushed": ["till-ingest"],
  "report.finalized": ["reporting"],
  "report.removed": ["reporting"],
  "report.parked": ["reporting"],
  "till.expired": ["reporting"],
  "day.closed": ["reporting"],
  "day.incomplete": ["reporting"],
  "e_report.ready": ["reporting"],
  "e_report.changed": ["reporting"],
  "orders.erased": ["reporting"],
  "order.call": ["order-live"],
  "order.paid": ["order-live"],
  "order.canceled": ["order-live"],
  "order.transferred": ["order-live"],
  "shift.changed": ["order-live"],
  "device.seen": ["order-live", "till-ingest"],
  "catalog.updated": ["catalog"],
  "endpoint.failing": ["webhooks"],
  "endpoint.disabled": ["webhooks"],
  "key.changed": ["accounts"],
  "location.updated": ["accounts"],
  // Every service lets operators retry its dead letters.
  "audit.recorded": serviceNames,
};

const sentRequestTopics: Partial<Record<ServiceName, readonly string[]>> = {
  accounts: [otherTimeZoneTillsTopic],
  "till-ingest": [tillDryRunTopic],
};

interface NatsUser {
  name: string;
  publish: string[];
  subscribe: string[];
  canReply?: boolean;
}

const inboxSubjectOf = (user: string) => `_INBOX.${user}.>`;

async function serviceUser(name: ServiceName, namespace: string): Promise<NatsUser> {
  const streams = buildEventStreamNames(namespace);
  const publishedTypes = (Object.keys(eventPublishers) as BusEventType[]).filter((type) =>
    eventPublishers[type].includes(name),
  );
  const { subscriptions = [], requestHandlers = [] } = await loadServiceDefinition(name);
  const consumedTypes = subscriptions.map(({ type }) => type);
  const requests = requestHandlers.map(({ topic }) => buildRequestSubject(namespace, topic));
  const signals = [name, `${name}-outbox`].map((topic) => `${namespace}-signals.${topic}.*`);
  const kindsOf = (types: readonly BusEventType[]) =>
    eventStreamKinds.filter((kind) => types.some((type) => getEventStreamKind(type) === kind));
  const prefixes = buildSubjectPrefixes(namespace);
  return {
    name,
    publish: [
      ...publishedTypes.map((type) => buildEventSubjectFilter(namespace, type).replace(/>$/, "*")),
      ...signals,
      ...(sentRequestTopics[name] ?? []).map((topic) => buildRequestSubject(namespace, topic)),
      ...kindsOf(publishedTypes).map((kind) => buildRollbackNoticeSubject(prefixes[kind], name)),
      ...Object.values(streams).map((stream) => `$JS.API.STREAM.INFO.${stream}`),
      // To check that the stream still has what it has acknowledged. NATS cannot restrict it to some subjects.
      ...kindsOf([...publishedTypes, ...consumedTypes]).map((kind) => `$JS.API.STREAM.MSG.GET.${streams[kind]}`),
      ...consumedTypes.flatMap((type) =>
        consumerSubjects(buildNatsConsumerName(name, type), {
          stream: streams[getEventStreamKind(type)],
          filter: buildEventSubjectFilter(namespace, type),
        }),
      ),
    ],
    subscribe: [
      ...[inboxSubjectOf(name), ...signals, ...requests],
      ...kindsOf(consumedTypes).map((kind) => buildRollbackNoticeSubject(prefixes[kind], "*")),
    ],
    canReply: requests.length > 0,
  };
}

/** Returns the subjects with which a service creates, deletes and reads its own consumer of one event type. */
function consumerSubjects(durable: string, { stream, filter }: { stream: string; filter: string }): string[] {
  return [
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${filter}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
  ];
}

function gatewayUser(namespace: string): NatsUser {
  const types: BusEventType[] = ["key.changed", "location.updated"];
  return {
    name: "gateway",
    publish: [buildRequestSubject(namespace, usageBatchTopic)],
    subscribe: [inboxSubjectOf("gateway"), ...types.map((type) => `${namespace}.${type}.>`)],
  };
}

function migrateUser(namespace: string): NatsUser {
  const streams = Object.values(buildEventStreamNames(namespace));
  // PURGE is for `npm run ops -- location remove`.
  const requests = ["INFO", "CREATE", "UPDATE", "PURGE"];
  const publish = streams.flatMap((stream) => requests.map((request) => `$JS.API.STREAM.${request}.${stream}`));
  return { name: "migrate", publish, subscribe: [inboxSubjectOf("migrate")] };
}

export async function listNatsUsers(namespace: string): Promise<NatsUser[]> {
  const serviceUsers = await Promise.all(serviceNames.map((name) => serviceUser(name, namespace)));
  return [...serviceUsers, gatewayUser(namespace), migrateUser(namespace)];
}

export async function renderNatsUsersConfig(namespace: string): Promise<string> {
  const users = (await listNatsUsers(namespace)).map(
    ({ name, publish, subscribe, canReply }) => `    {
      user: ${JSON.stringify(name)}, password: $NATS_PASSWORD_${name.toUpperCase().replaceAll("-", "_")}
      permissions: {
        publish: ${formatSubjects(publish)}
        subscribe: ${formatSubjects(subscribe)}${canReply ? `\n        allow_responses: { max: 1, expires: "1m" }` : ""}
      }
    }`,
  );
  return `# Generated by \`npm run access\` from the events that services publish and subscribe to: users and permissions.
# The passwords are in the environment of nats-server and must begin with a letter.
authorization {
  users: [
${users.join("\n")}
  ]
}
`;
}

function formatSubjects(subjects: string[]): string {
  return `[\n${subjects.map((subject) => `          ${JSON.stringify(subject)}`).join("\n")}\n        ]`;
}
