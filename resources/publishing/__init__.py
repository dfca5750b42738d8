"""Publishing: releases as folders, results as files for papers and leaderboards, the server of both."""
