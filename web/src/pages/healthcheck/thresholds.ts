export type Mode = "consecutive" | "window";
export type ThresholdForm = { mode: Mode; healthy: number; degraded: number; unhealthy: number; windowSize: number };

/** What applies to an assignment without thresholds of its own. */
export const standard: ThresholdForm = { mode: "consecutive", healthy: 1, degraded: 2, unhealthy: 5, windowSize: 10 };
const standardWindow = { degraded: 3, unhealthy: 7 };

type Stored = {
  mode: string;
  healthy?: { minSuccessCount?: number } | null | undefined;
  degraded?: { minFailureCount?: number } | null | undefined;
  unhealthy?: { minFailureCount?: number } | null | undefined;
  windowSize?: number | undefined;
};

export function formOf(stored: Stored | null | undefined): ThresholdForm {
  if (!stored) return standard;
  const mode: Mode = stored.mode === "window" ? "window" : "consecutive";
  return {
    mode,
    healthy: stored.healthy?.minSuccessCount ?? standard.healthy,
    degraded: stored.degraded?.minFailureCount ?? (mode === "window" ? standardWindow.degraded : standard.degraded),
    unhealthy: stored.unhealthy?.minFailureCount ?? (mode === "window" ? standardWindow.unhealthy : standard.unhealthy),
    windowSize: stored.windowSize ?? standard.windowSize,
  };
}

/** Changing the mode starts from that mode's own defaults. */
export function withMode(form: ThresholdForm, mode: Mode): ThresholdForm {
  return mode === form.mode ? form : { ...standard, mode, ...(mode === "window" ? standardWindow : {}) };
}

export function storedOf(form: ThresholdForm) {
  const shared = { degraded: { minFailureCount: form.degraded }, unhealthy: { minFailureCount: form.unhealthy } };
  return form.mode === "window" ? { mode: "window" as const, windowSize: form.windowSize, ...shared } : { mode: "consecutive" as const, healthy: { minSuccessCount: form.healthy }, ...shared };
}

/** The rule in one sentence. */
export function describe(form: ThresholdForm): string {
  const runs = (n: number) => (n === 1 ? "1 failed run" : `${n} failed runs`);
  return form.mode === "window"
    ? `Degraded from ${runs(form.degraded)}, unhealthy from ${form.unhealthy}, among the newest ${form.windowSize}.`
    : `Degraded after ${runs(form.degraded)} in a row, unhealthy after ${form.unhealthy}, healthy again after ${form.healthy === 1 ? "1 success" : `${form.healthy} successes`}.`;
}
