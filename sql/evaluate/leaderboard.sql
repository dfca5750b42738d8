SELECT * FROM evaluate.leaderboard;
