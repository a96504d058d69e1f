import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyButton, CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Section } from "../ui/section.tsx";
import { ClientClosed } from "./client-closed.tsx";
import { findTryItUrl } from "./operation-page.ts";

const route = getRouteApi("/requests");
const pageSize = 20;
const refetchMs = 30_000;

/** The failed requests, latest first, each with its issues and the page that explains its error. */
export function FailedRequests() {
  const { page = 0 } = route.useSearch();
  const query = useApi(
    ["failures", page],
    (api) => api.GET("/v1/usage/failures", { params: { query: { index: page, size: pageSize } } }),
    { refetchMs },
  );
  return (
    <Section title={text.requests.failures} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            {data.length === 0 && <p className="empty">{text.requests.noFailures}</p>}
            {data.length > 0 && <p className="muted">{text.requests.formHint}</p>}
            <ul className="cards">
              {data.map((failure) => (
                <FailedRequestCard key={failure.id} failure={failure} />
              ))}
            </ul>
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function FailedRequestCard({ failure }: { failure: ApiSchemaTypes["FailedRequest"] }) {
  const { installation } = useSession();
  const { bytes, number } = useFormats();
  const { method, path, status, code, failedAt, issues, requestBytes, requestId, count, keyPrefix, consumerName } =
    failure;
  const tryItUrl = findTryItUrl(failure, installation.docsUrl);
  return (
    <li className="card">
      <div className="card-header">
        <Badge tone={status >= 500 ? "bad" : "warning"}>{status}</Badge>
        <code className="card-title">
          {method} {path}
        </code>
        <span className="muted">
          <Moment at={failedAt} />
        </span>
      </div>
      {issues.length > 0 && (
        <ul>
          {issues.map((issue, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two issues can be equal, and their sequence does not change.
            <li key={index}>
              <code>
                {issue.in}
                {issue.path && ` ${issue.path}`}
              </code>
              : {issue.message}
            </li>
          ))}
        </ul>
      )}
      <ClientClosed status={status} />
      <p className="card-meta">
        {code !== null && (
          <a href={`${installation.docsUrl}/errors#${code}`} aria-label={text.requests.explain(code)}>
            {code}
          </a>
        )}
        <span>
          {consumerName} <code>{keyPrefix}…</code>
        </span>
        {tryItUrl && (
          <a href={tryItUrl} target="_blank" rel="noopener" aria-label={text.requests.openFormOf(`${method} ${path}`)}>
            {text.requests.openForm}
          </a>
        )}
        {requestBytes !== null && requestBytes > 0 && <span>{bytes(requestBytes)}</span>}
        {count > 1 && <span>{text.requests.repeated(number(count))}</span>}
        <CopyButton value={requestId} label={text.requests.copyRequestId} />
      </p>
    </li>
  );
}
