import { DocProvider } from "@docusaurus/plugin-content-docs/client";
import { HtmlClassNameProvider } from "@docusaurus/theme-common";
import { MDXProvider } from "@mdx-js/react";
import Export from "@theme/ApiExplorer/Export";
import MethodEndpoint from "@theme/ApiExplorer/MethodEndpoint";
import ApiItemLayout from "@theme/ApiItem/Layout";
import type { Props } from "@theme/DocItem";
import DocItemMetadata from "@theme/DocItem/Metadata";
import Heading from "@theme/Heading";
import ParamsDetails from "@theme/ParamsDetails";
import RequestSchema from "@theme/RequestSchema";
import StatusCodes from "@theme/StatusCodes";
import type { ComponentProps, ReactNode } from "react";
import { PageTitle } from "../../page-title/PageTitle.tsx";
import { OperationContext, OperationDetails, OperationIntroduction, OperationPanel } from "../../reference/layout.tsx";
import { MessageExample } from "../../reference/MessageExample.tsx";
import { MessageFieldTable } from "../../reference/MessageFieldTable.tsx";
import { ResourceCards } from "../../reference/ResourceCards.tsx";
import type { TryItOperation } from "../../try-it/operation.ts";
import styles from "./styles.module.css";

/** The components that the pages of the reference use without an import, so that no page contains their code. */
const components = {
  Export,
  Heading: ReferenceHeading,
  MessageExample,
  MessageFieldTable,
  MethodEndpoint,
  OperationDetails,
  OperationIntroduction,
  OperationPanel,
  ParamsDetails,
  RequestSchema,
  ResourceCards,
  StatusCodes,
};

/**
 * Renders a page of the reference. The original renders the right column only in the browser, and loads a state store and
 * an HTTP client that only its own form needs.
 */
export default function ApiItem({ content: Content }: Props): ReactNode {
  const { operation } = Content as { operation?: TryItOperation };
  const page = (
    <MDXProvider components={components}>
      <Content />
    </MDXProvider>
  );
  return (
    <DocProvider content={Content}>
      <HtmlClassNameProvider className={`docs-doc-id-${Content.metadata.id}`}>
        <DocItemMetadata />
        <ApiItemLayout>
          {operation === undefined ? (
            page
          ) : (
            <OperationContext value={operation}>
              <div className={styles.layout}>{page}</div>
            </OperationContext>
          )}
        </ApiItemLayout>
      </HtmlClassNameProvider>
    </DocProvider>
  );
}

/** Renders a heading of a generated page. The first heading is the title of the page. */
function ReferenceHeading({ as, children, ...props }: ComponentProps<typeof Heading>): ReactNode {
  if (as === "h1") return <PageTitle>{children}</PageTitle>;
  return (
    <Heading as={as} {...props}>
      {children}
    </Heading>
  );
}
