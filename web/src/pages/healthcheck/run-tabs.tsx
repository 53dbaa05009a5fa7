import { useSearchParams } from "react-router";
import { Badge } from "@/ui/state";
import { Tabs } from "@/ui/tabs";
import type { DetailedRun } from "./api";
import { readResult } from "./result";
import { Outcomes, RawData, RunFindings, RunVerdict } from "./run-detail";

const names = ["result", "assertions", "raw"] as const;

/** One stored run; the open tab is part of the address. */
export function RunTabs({ run }: { run: DetailedRun }) {
  const [params, setParams] = useSearchParams();
  const detail = readResult(run.result);
  const outcomes = detail.collectors.flatMap((collector) => collector.outcomes);
  const failed = outcomes.filter((outcome) => !outcome.passed).length;
  return (
    <div className="grid gap-4">
      <RunVerdict status={run.status} latencyMs={run.latencyMs} message={run.message} error={detail.error} />
      <Tabs
        label="Parts of the run"
        value={names.find((name) => name === params.get("tab")) ?? "result"}
        onChange={(name) =>
          setParams(
            (current) => {
              const next = new URLSearchParams(current);
              if (name === "result") next.delete("tab");
              else next.set("tab", name);
              return next;
            },
            { replace: true, preventScrollReset: true },
          )
        }
        tabs={[
          {
            name: "result",
            label: "Result",
            content: (
              <div className="grid gap-4">
                <RunFindings detail={detail} assertions="failed" />
                {detail.collectors.length === 0 && detail.timings.length === 0 ? <p className="text-ink-3">Nothing was measured.</p> : null}
              </div>
            ),
          },
          {
            name: "assertions",
            label: (
              <>
                Assertions {outcomes.length > 0 ? <Badge tone={failed > 0 ? "danger" : "good"}>{failed > 0 ? `${failed} failed` : `${outcomes.length} passed`}</Badge> : null}
              </>
            ),
            content: outcomes.length > 0 ? <Outcomes outcomes={outcomes} /> : <p className="text-ink-3">{detail.error || detail.collectors.some((collector) => collector.error) ? "The run failed before any assertion was tried." : "This check asks for nothing in particular."}</p>,
          },
          { name: "raw", label: "Raw", content: run.result ? <RawData value={run.result} /> : <p className="text-ink-3">No details were stored.</p> },
        ]}
      />
    </div>
  );
}
