import { Duration } from 'aws-cdk-lib'
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  type CompositeAlarm,
  GraphWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch'
import { Construct } from 'constructs'
import { GRAPHS, type Graph } from './dashboard-table.ts'
import { metricOf, type Watched } from './figures.ts'
import { TRAFFIC_BY_ROUTE } from './queries.ts'

type Props = {
  readonly watched: Watched
  readonly composites: readonly CompositeAlarm[]
  readonly alarms: readonly Alarm[]
}

const HEIGHT = 6

/** One page of graphs: the states of the alarms, and what goes in and out. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, { watched, composites, alarms }: Props) {
    super(scope, id)
    const dashboard = new CloudWatchDashboard(this, 'Resource', {
      dashboardName: `clinic-developer-api-${watched.stage}`,
      defaultInterval: Duration.hours(6),
    })
    dashboard.addWidgets(
      new TextWidget({
        markdown: `# ${watched.stage}\nRunbook: docs/operate/README.md`,
        width: 6,
        height: 3,
      }),
      new AlarmStatusWidget({ title: 'State', alarms: [...composites], width: 18, height: 3 }),
    )
    dashboard.addWidgets(
      new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 24, height: HEIGHT }),
    )
    for (let row = 0; row < GRAPHS.length; row += 3)
      dashboard.addWidgets(...GRAPHS.slice(row, row + 3).map((graph) => widgetOf(graph, watched)))
    dashboard.addWidgets(
      new LogQueryWidget({
        title: 'Traffic by route',
        logGroupNames: [watched.gatewayLogs],
        queryLines: [...TRAFFIC_BY_ROUTE],
        view: LogQueryVisualizationType.TABLE,
        width: 24,
        height: HEIGHT,
      }),
    )
  }
}

const widgetOf = ({ title, lines, stacked = false, minutes = 5 }: Graph, watched: Watched): GraphWidget =>
  new GraphWidget({
    title,
    stacked,
    width: 8,
    height: HEIGHT,
    left: lines.map(({ label, figure }) => metricOf(figure, watched, minutes, label)),
  })
