import { DocProvider } from "@docusaurus/plugin-content-docs/client";
import { HtmlClassNameProvider } from "@docusaurus/theme-common";
import { MDXProvider } from "@mdx-js/react";
import ApiExplorer from "@theme/ApiExplorer";
import Export from "@theme/ApiExplorer/Export";
import MethodEndpoint from "@theme/ApiExplorer/MethodEndpoint";
import ApiItemLayout from "@theme/ApiItem/Layout";
import type { Props } from "@theme/DocItem";
import DocItemMetadata from "@theme/DocItem/Metadata";
import Heading from "@theme/Heading";
import ParamsDetails from "@theme/ParamsDetails";
import RequestSchema from "@theme/RequestSchema";
import StatusCodes from "@theme/StatusCodes";
import type { ReactNode } from "react";
import { CopyPageMenu } from "../../copy-page/CopyPageMenu.tsx";
import { ResourceCards } from "../../reference/ResourceCards.tsx";
import type { TryItOperation } from "../../try-it/operation.ts";
import styles from "./styles.module.css";

/** The components that the pages of the reference use without an import, so that no page contains their code. */
const components = { Export, Heading, MethodEndpoint, ParamsDetails, RequestSchema, ResourceCards, StatusCodes };

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
            <div className={styles.layout}>
              <div className={styles.content}>
                <CopyPageMenu markdownUrl={`${Content.metadata.permalink}.md`} />
                {page}
              </div>
              <div className={styles.side}>
                <ApiExplorer key={operation.operationId} operation={operation} />
              </div>
            </div>
          )}
        </ApiItemLayout>
      </HtmlClassNameProvider>
    </DocProvider>
  );
}
