import type { ApiSchemaTypes } from "@pragma/client";
import { useApi } from "../api/use-api.ts";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";

type ServiceHealth = ApiSchemaTypes["ServiceHealth"];

const refetchMs = 10_000;
const tones: Record<ServiceHealth["state"], Tone> = {
  ok: "good",
  degraded: "warning",
  failing: "bad",
  unreachable: "bad",
};

/** What the gateway and each service state about themselves, read again every ten seconds. */
export function ServicesHealth() {
  const query = useApi(["services"], (api) => api.GET("/v1/services"), { refetchMs });
  return (
    <Section title={text.operator.services} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ services }) => (
          <>
            <FailureList failures={listFailures(services)} />
            <Table
              label={text.operator.services}
              rows={services}
              getKey={({ name }) => name}
              empty=""
              columns={[
                { header: text.operator.service, isRowHeader: true, cell: ({ name }) => name },
                {
                  header: text.operator.state,
                  cell: ({ state }) => <Badge tone={tones[state]}>{text.operator.states[state]}</Badge>,
                },
                { header: text.operator.checks, cell: (service) => <ChecksCell service={service} /> },
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function ChecksCell({ service: { state, checks } }: { service: ServiceHealth }) {
  if (state === "unreachable") return text.operator.noResponse;
  const failing = checks.filter(({ error }) => error !== null);
  if (failing.length === 0) return <span className="muted">{text.operator.allPass(checks.length)}</span>;
  return text.operator.failingChecks(failing.map(({ name }) => name).join(", "));
}

interface Failure {
  check: string;
  error: string;
  services: string[];
}

/** Returns each failure once, with the services that state it: most of them depend on the same servers. */
function listFailures(services: readonly ServiceHealth[]): Failure[] {
  const failures = new Map<string, Failure>();
  for (const { name, checks } of services) {
    for (const { name: check, error } of checks) {
      if (error === null) continue;
      const failure = failures.get(`${check} ${error}`) ?? { check, error, services: [] };
      failures.set(`${check} ${error}`, { ...failure, services: [...failure.services, name] });
    }
  }
  return [...failures.values()];
}

const FailureList = ({ failures }: { failures: readonly Failure[] }) =>
  failures.length > 0 && (
    <ul className="notice notice-warning">
      {failures.map(({ check, error, services }) => (
        <li key={`${check} ${error}`}>
          <strong>{check}</strong> ({services.join(", ")}): {error}
        </li>
      ))}
    </ul>
  );
