import { useDocsPreferredVersion } from "@docusaurus/plugin-content-docs/client";
import type { WrapperProps } from "@docusaurus/types";
import type DocVersionRootType from "@theme/DocVersionRoot";
import DocVersionRoot from "@theme-original/DocVersionRoot";
import { type ReactNode, useEffect } from "react";

/** Remembers the version of the documentation that is read, so that links from elsewhere lead back to it. */
export default function RememberedDocVersion(props: WrapperProps<typeof DocVersionRootType>): ReactNode {
  const { pluginId, version } = props.version;
  const { savePreferredVersionName } = useDocsPreferredVersion(pluginId);
  // Saving changes the context that it comes from: the version decides when to.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it would be saved without end
  useEffect(() => savePreferredVersionName(version), [version]);
  return <DocVersionRoot {...props} />;
}
