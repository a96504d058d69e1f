import ApiExplorer from "@theme/ApiExplorer";
import { createContext, type ReactNode, useContext } from "react";
import type { TryItOperation } from "../try-it/operation.ts";
import styles from "./layout.module.css";

/*
 * The three parts of the page of an operation. On wide screens, the panel is beside the introduction and the details.
 * On small screens, it is between them, so that readers see an example before the list of all fields.
 */

/** The operation of the page. Absent on the first page of a reference. */
export const OperationContext = createContext<TryItOperation | undefined>(undefined);

/** Renders the title, the method, the path and the description. */
export function OperationIntroduction({ children }: { children: ReactNode }): ReactNode {
  return <div className={styles.introduction}>{children}</div>;
}

/** Renders the form and the examples, or the example of a webhook message. */
export function OperationPanel(): ReactNode {
  const operation = useContext(OperationContext);
  if (operation === undefined) return null;
  return (
    <div className={styles.panel} data-search-ignored>
      <ApiExplorer key={operation.operationId} operation={operation} />
    </div>
  );
}

/** Renders the parameters, the bodies and the errors. */
export function OperationDetails({ children }: { children: ReactNode }): ReactNode {
  return <div className={styles.details}>{children}</div>;
}
