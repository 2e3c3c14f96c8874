//! The run bundle: the folder that keeps everything a run recorded and everything that follows from it.
