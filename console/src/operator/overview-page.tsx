import { text } from "../text/text.ts";
import { BusiestKeys, RefusedRequests } from "./limits.tsx";
import { OperatorView } from "./operator-view.tsx";
import { ServicesHealth } from "./services-health.tsx";

/** What an operator looks at first: the health of services, and the limits that consumers reach. */
export const OverviewPage = () => (
  <OperatorView title={text.operator.title} summary={text.operator.summary}>
    <ServicesHealth />
    <BusiestKeys />
    <RefusedRequests />
  </OperatorView>
);
