import type { ApiSchemaTypes } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { Inbox } from "./inbox.tsx";
import { SandboxEvents } from "./sandbox-events.tsx";

type Sandbox = ApiSchemaTypes["Sandbox"];

const refetchMs = ({ state }: Sandbox) => (state === "filling" ? 2_000 : 15_000);

/** The sandbox of the key: buttons that make something happen, the inbox, and the days with a problem on purpose. */
export function SandboxPage() {
  const query = useApi(["sandbox"], (api) => api.GET("/v1/sandboxes/current"), { refetchMs });
  return (
    <Page title={text.sandbox.title} summary={text.sandbox.summary} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {(sandbox) => (
          <div className="columns">
            <div>
              <SandboxEvents />
              <About sandbox={sandbox} />
              <ProblemDays days={sandbox.days} />
            </div>
            <Inbox sandbox={sandbox} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function About({ sandbox: { state, progress, createdAt, expiresAt, location } }: { sandbox: Sandbox }) {
  const { number } = useFormats();
  const { installation } = useSession();
  return (
    <Section
      title={text.sandbox.about}
      actions={<Badge tone={state === "ready" ? "good" : "info"}>{text.sandbox[state]}</Badge>}
    >
      <Facts
        facts={[
          [
            text.sandbox.filling,
            state === "filling" && text.sandbox.progress(number(progress.done), number(progress.total)),
          ],
          [text.sandbox.location, location.name],
          [text.sandbox.created, <Moment key="created" at={createdAt} />],
          [
            text.sandbox.removed,
            <span key="removed">
              <strong>
                <Ago at={expiresAt} />
              </strong>
              , <Moment at={expiresAt} />. {text.sandbox.removedHint}
            </span>,
          ],
        ]}
      />
      <p>
        <a href={`${installation.docsUrl}/sandboxes`}>{text.sandbox.guide}</a>
      </p>
    </Section>
  );
}

function ProblemDays({ days }: { days: Sandbox["days"] }) {
  const { day } = useFormats();
  const withProblem = days.flatMap(({ problem, ...rest }) => (problem ? [{ ...rest, problem }] : []));
  return (
    <Section title={text.sandbox.days.title} actions={<Link to="/days">{text.sandbox.days.all}</Link>}>
      <Table
        label={text.sandbox.days.title}
        rows={withProblem}
        getKey={(row) => row.day}
        empty={text.sandbox.days.none}
        columns={[
          {
            header: text.sandbox.days.day,
            isRowHeader: true,
            cell: (row) => (
              <Link to="/days/$date" params={{ date: row.day }}>
                {day(row.day)}
              </Link>
            ),
          },
          {
            header: text.sandbox.days.problem,
            cell: (row) => (row.isPushed ? row.problem.description : text.sandbox.days.notPushed),
          },
          {
            header: text.sandbox.days.check,
            isWideOnly: true,
            cell: (row) => text.days.checks[row.problem.check],
          },
        ]}
      />
      <p className="muted">{text.sandbox.days.others(days.length - withProblem.length)}</p>
    </Section>
  );
}
