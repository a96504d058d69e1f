import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { text } from "../text/text.ts";
import { LinkRow } from "../ui/link-row.tsx";
import { Page } from "../ui/page.tsx";

const views = [
  { to: "/operator", label: text.operator.overview },
  { to: "/operator/locations", label: text.operator.locations },
  { to: "/operator/consumers", label: text.operator.consumers },
  { to: "/operator/dead-letters", label: text.operator.deadLetters },
  { to: "/operator/audit", label: text.operator.audit },
] as const;

interface OperatorViewProps {
  title: string;
  summary?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** One of the views for operators, with links to the others. */
export const OperatorView = ({ children, ...page }: OperatorViewProps) => (
  <>
    <LinkRow className="view-tabs" label={text.operator.navigation}>
      {views.map(({ to, label }) => (
        <Link key={to} to={to} className="view-tab" activeOptions={{ exact: to === "/operator", includeSearch: false }}>
          {label}
        </Link>
      ))}
    </LinkRow>
    <Page {...page}>{children}</Page>
  </>
);
