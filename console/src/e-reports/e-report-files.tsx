import type { ApiSchemaTypes } from "@pragma/client";
import { useApi } from "../api/use-api.ts";
import { DownloadButton } from "../exports/download-button.tsx";
import { text } from "../text/text.ts";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";

type EReport = ApiSchemaTypes["EReport"];

/** The files of the period that were taken, latest first. */
export function EReportFiles({ report: { siren, kind, period, lastTransmission } }: { report: EReport }) {
  const path = { siren, kind, period };
  const query = useApi(["e-report files", path, lastTransmission?.number], (api) =>
    api.GET("/v1/e-reports/{siren}/{kind}/{period}/transmissions", { params: { path } }),
  );
  return (
    <Section title={text.eReports.files}>
      <Loaded query={query}>
        {({ data }) => (
          <Table
            label={text.eReports.files}
            rows={data}
            getKey={({ number }) => String(number)}
            empty=""
            columns={[
              { header: text.eReports.file, isRowHeader: true, cell: ({ id }) => <code>{id}</code> },
              { header: text.eReports.type, cell: ({ type }) => type },
              { header: text.eReports.takenAt, cell: ({ takenAt }) => <Moment at={takenAt} />, isWideOnly: true },
              { header: text.eReports.hash, cell: ({ sha256 }) => <code>{sha256}</code>, isWideOnly: true },
              {
                header: text.exports.download,
                cell: ({ id, number, bytes }) => (
                  <DownloadButton
                    name={`${id}.xml`}
                    bytes={bytes}
                    open={(api) =>
                      api.GET("/v1/e-reports/{siren}/{kind}/{period}/transmissions/{number}", {
                        params: { path: { ...path, number } },
                        parseAs: "stream",
                      })
                    }
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
