"""A pod a run, where Kubernetes is there: Dagster's own launcher, which knows of runs without a pod.

What belongs here: that difference. The stages of a build are runs in the pod of the build, and commands
run in a pod that no launcher began. Dagster's run monitoring would end both, as no pod has their name;
here the sensor `dead_runs` ends them when their processes are gone. Only settings of such an instance
name this module (`deploy/helm/values.yaml`): its package is in the image.
"""

import dagster as dg
from dagster_k8s import K8sRunLauncher

from assets.common.dagster_internals import MAX_RETRIES_TAG, CheckRunHealthResult, WorkerStatus


class PodLauncher(K8sRunLauncher):
    """Launches each run of the queue in a pod."""

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """As Dagster's; a run that a process of ours began (`run_job`) has no pod, and is let be."""
        if run.tags.get(MAX_RETRIES_TAG) == "0":
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return super().check_run_worker_health(run)
