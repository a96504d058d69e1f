import { getRouteApi } from "@tanstack/react-router";
import { text } from "../text/text.ts";
import { Filters } from "../ui/fields.tsx";
import { BusiestKeys, RefusedRequests } from "./limits.tsx";
import { OperatorView } from "./operator-view.tsx";
import { SandboxesField } from "./sandboxes-field.tsx";
import { ServicesHealth } from "./services-health.tsx";
import { UsedQuotas } from "./used-quotas.tsx";

const route = getRouteApi("/operator");

/** What an operator looks at first: the health of services, and the limits that consumers reach. */
export function OverviewPage() {
  const { sandboxes } = route.useSearch();
  const navigate = route.useNavigate();
  const includesSandboxes = sandboxes === "included";
  return (
    <OperatorView title={text.operator.title} summary={text.operator.summary}>
      <ServicesHealth />
      <Filters>
        <SandboxesField
          isIncluded={includesSandboxes}
          onChange={(chosen) => void navigate({ search: { sandboxes: chosen }, resetScroll: false })}
        />
      </Filters>
      <BusiestKeys includesSandboxes={includesSandboxes} />
      <UsedQuotas includesSandboxes={includesSandboxes} />
      <RefusedRequests includesSandboxes={includesSandboxes} />
    </OperatorView>
  );
}
